// A barrier for each way of a branch on which lanes of a warp differ.
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
    if (t % 2) {
      a[t] = 1;
      __nvvm_bar_sync(0); // finds: different barriers
      a[64 + t] = 2;
    } else {
      a[t] = 2;
      __nvvm_bar_sync(0);
    }
#else
    if (t % 2)
      a[t] = 1;
    __nvvm_bar_sync(0);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
