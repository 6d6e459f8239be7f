// The length of a section in bytes, where elements are meant, of the device's memory.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int n = 100, device = omp_get_default_device();
#ifdef WRONG
  int *a = omp_target_alloc(n, device);
#else
  int *a = omp_target_alloc(n * sizeof *a, device);
#endif
#pragma omp target teams distribute parallel for is_device_ptr(a)
  for (int i = 0; i < n; ++i)
    a[i] = i; // finds: write
  omp_target_free(a, device);
  return puts("done") < 0;
}
