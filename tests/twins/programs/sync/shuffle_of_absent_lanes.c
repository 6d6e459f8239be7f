// A shuffle for all lanes, half of which are at a vote.
// with: openmp
#include <stdio.h>
#ifndef __NVPTX__
#define __nvvm_read_ptx_sreg_tid_x() 0
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
    if (t % 32 < 16)
      a[t] = __nvvm_shfl_sync_idx_i32(0xffffffff, t, 0, 31); // finds: wait for each other for ever
    else
      a[t] = __nvvm_vote_ballot_sync(0xffffffff, 1);
#else
    if (t % 32 < 16)
      a[t] = __nvvm_shfl_sync_idx_i32(0x0000ffff, t, 0, 31);
    else
      a[t] = __nvvm_vote_ballot_sync(0xffff0000, 1);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
