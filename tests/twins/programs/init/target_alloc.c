// Memory of the device that nobody has filled.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int device = omp_get_default_device(), host[100] = {0}, many = 0;
  int *a = (int *)omp_target_alloc(sizeof host, device);
#ifndef WRONG
  omp_target_memcpy(a, host, sizeof host, 0, 0, device, omp_get_initial_device());
#endif
#pragma omp target is_device_ptr(a) map(tofrom: many)
  for (int i = 0; i < 100; ++i)
    if (a[i] != 0) // finds
      ++many;
  omp_target_free(a, device);
  printf("%d\n", many);
  return 0;
}
