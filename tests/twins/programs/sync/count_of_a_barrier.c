// A barrier for more threads than come to it.
// with: openmp
#include <stdio.h>
#ifndef __NVPTX__
#define __nvvm_read_ptx_sreg_tid_x() 0
#define __nvvm_barrier_sync_cnt(n, c)
#endif

int main(void)
{
  int a[128] = {0};
#pragma omp target teams ompx_bare num_teams(1) thread_limit(64) map(tofrom: a)
  {
    int t = __nvvm_read_ptx_sreg_tid_x();
#ifdef WRONG
    if (t < 32)
      __nvvm_barrier_sync_cnt(1, 64); // finds: wait for each other for ever
#else
    if (t < 32)
      __nvvm_barrier_sync_cnt(1, 32);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
