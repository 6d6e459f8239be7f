// covers: OMP_DEFAULT_DEVICE, omp_set_default_device, the default device inside regions
// env: OMP_DEFAULT_DEVICE=2
#include <omp.h>
#include <stdio.h>

int main(void) {
  int seen = 0;
  printf("default %d\n", omp_get_default_device());
  int a = 1;
#pragma omp target enter data map(to : a)
  for (int d = 0; d < omp_get_num_devices(); d++)
    printf("present on %d: %d\n", d, omp_target_is_present(&a, d));
  a = 2;
#pragma omp target map(to : a) map(from : seen)
  seen = a;
  printf("the region finds it there: %d\n", seen);
  omp_set_default_device(1);
#pragma omp target map(tofrom : a)
  a = 3;
  printf("the region on another device copies: %d\n", a);
  return 0;
}
