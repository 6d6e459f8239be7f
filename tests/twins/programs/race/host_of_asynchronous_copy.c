// The host changes what `omp_target_memcpy_async` is sending.
// with: openmp
// options: -O1 -g --check=race
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  int device = omp_get_default_device(), host = omp_get_initial_device();
  static int a[N];
  int *b = omp_target_alloc(N * sizeof *b, device);
  for (int i = 0; i < N; ++i)
    a[i] = i;
  omp_target_memcpy_async(b, a, sizeof a, 0, 0, device, host, 0, NULL);
#ifndef WRONG
#pragma omp taskwait
#endif
  a[7] = 0; // finds: the host and a copy
#pragma omp taskwait
  omp_target_free(b, device);
  return puts("done") < 0;
}
