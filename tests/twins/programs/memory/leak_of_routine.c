// Memory of the device that a routine has allocated.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int n = 100, sum = 0;
  int device = omp_get_default_device();
  for (int round = 0; round < 3; round++) {
    int *a = omp_target_alloc(n * sizeof *a, device); // finds: 3 times
#pragma omp target is_device_ptr(a) map(tofrom: sum)
    for (int i = 0; i < n; i++)
      sum += a[i] = i;
#ifndef WRONG
    omp_target_free(a, device);
#endif
  }
  printf("%d\n", sum);
  return 0;
}
