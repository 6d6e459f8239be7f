// `omp_target_memcpy` of what a region in a task is computing.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  int device = omp_get_default_device(), host = omp_get_initial_device(), b[N];
  int *a = omp_target_alloc(N * sizeof *a, device);
#pragma omp target teams distribute parallel for nowait is_device_ptr(a)
  for (int i = 0; i < N; ++i)
    a[i] = i; // finds
#ifndef WRONG
#pragma omp taskwait
#endif
  omp_target_memcpy(b, a, sizeof b, 0, 0, host, device);
#pragma omp taskwait
  omp_target_free(a, device);
  printf("%d\n", b[7] >= 0);
  return 0;
}
