// covers: OMP_DEFAULT_DEVICE, omp_set_default_device, the default device inside regions
// env: OMP_DEFAULT_DEVICE=2
#include <omp.h>
#include <stdio.h>

int main(void) {
  int where = -1;
  printf("default %d\n", omp_get_default_device());
#pragma omp target map(from : where)
  where = omp_get_device_num();
  printf("ran on %d\n", where);
  int a = 1;
#pragma omp target enter data map(to : a)
  for (int d = 0; d < omp_get_num_devices(); d++)
    printf("present on %d: %d\n", d, omp_target_is_present(&a, d));
  omp_set_default_device(1);
#pragma omp target map(from : where)
  where = omp_get_device_num();
  printf("ran on %d\n", where);
  return 0;
}
