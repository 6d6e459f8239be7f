// covers: OMP_TARGET_OFFLOAD=DEFAULT: offloads where it can, runs on the host where the device does not exist
// env: OMP_TARGET_OFFLOAD=DEFAULT
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[2] = {1, 2}, host = -1;
#pragma omp target map(from : host) map(tofrom : a)
  {
    host = omp_is_initial_device();
    a[0] = 3;
  }
  printf("on the device: %d %d\n", host == 0, a[0]);
#pragma omp target device(omp_get_num_devices()) map(from : host) map(tofrom : a)
  {
    host = omp_is_initial_device();
    a[1] = 4;
  }
  printf("on the host: %d %d\n", host, a[1]);
  return 0;
}
