// A barrier for more threads than come to it.
// with: openmp
// options: -O1 -g -fopenmp-extensions
#include <stdio.h>
#ifdef __NVPTX__
#define DEVICE 1
#else
#define DEVICE 0
#define __nvvm_read_ptx_sreg_tid_x() 0
#define __nvvm_bar_sync(n)
#define __nvvm_barrier_sync(n)
#define __nvvm_barrier_sync_cnt(n, c)
#define __nvvm_bar_warp_sync(m)
#define __nvvm_shfl_sync_idx_i32(m, v, l, c) (v)
#define __nvvm_vote_ballot_sync(m, p) 0
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
