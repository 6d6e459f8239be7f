// Lanes that wait for their warp while the others wait for the block.
// with: openmp
#include <stdio.h>
#ifndef __NVPTX__
#define __nvvm_read_ptx_sreg_tid_x() 0
#define __nvvm_barrier_sync(n)
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
      a[t] = __nvvm_vote_ballot_sync(0xffffffff, 1);
    else
      __nvvm_barrier_sync(0); // finds: wait for each other for ever
#else
    if (t % 32 < 16)
      a[t] = __nvvm_vote_ballot_sync(0x0000ffff, 1);
    __nvvm_barrier_sync(0);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
