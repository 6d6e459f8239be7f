// A barrier for each way of a branch, as of CUDA's `__syncthreads`.
// with: openmp
#include <stdio.h>
#ifndef __NVPTX__
#define __nvvm_read_ptx_sreg_tid_x() 0
#define __nvvm_bar_sync(n)
#endif

int main(void)
{
  int a[128] = {0};
#pragma omp target teams ompx_bare num_teams(1) thread_limit(64) map(tofrom: a)
  {
    int t = __nvvm_read_ptx_sreg_tid_x();
#ifdef WRONG
    if (t < 32) {
      a[t] = 1;
      __nvvm_bar_sync(0); // finds: different barriers
      a[t] += a[63 - t];
    } else {
      a[t] = 2;
      __nvvm_bar_sync(0);
    }
#else
    if (t < 32)
      a[t] = 1;
    else
      a[t] = 2;
    __nvvm_bar_sync(0);
    if (t < 32)
      a[t] += a[63 - t] * 0;
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
