// covers: OMP_TARGET_OFFLOAD unset
// env: OMP_TARGET_OFFLOAD
#include <omp.h>
#include <stdio.h>

int main(void) {
  int host = -1;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  printf("devices %d, on the device %d\n", omp_get_num_devices() > 0, host == 0);
  return 0;
}
