// covers: omp_get_num_devices, initial and default device, device numbers, omp_is_initial_device
#include <omp.h>
#include <stdio.h>

int main(void) {
  int n = omp_get_num_devices();
  printf("%d devices, initial %d, default %d\n", n, omp_get_initial_device(),
         omp_get_default_device());
  printf("device number on the host is the initial device: %d\n",
         omp_get_device_num() == omp_get_initial_device());
  printf("on the host: %d\n", omp_is_initial_device());
  for (int d = 0; d < n; d++) {
    int initial = -1;
#pragma omp target device(d) map(from : initial)
    initial = omp_is_initial_device();
    printf("%d: %d\n", d, initial);
  }
  return 0;
}
