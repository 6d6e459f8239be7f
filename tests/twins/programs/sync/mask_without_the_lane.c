// A lane that calls with a mask which it is not in.
// with: openmp
#include <stdio.h>
#ifndef __NVPTX__
#define __nvvm_read_ptx_sreg_tid_x() 0
#define __nvvm_bar_warp_sync(m)
#endif

int main(void)
{
  int a[128] = {0};
#pragma omp target teams ompx_bare num_teams(1) thread_limit(64) map(tofrom: a)
  {
    int t = __nvvm_read_ptx_sreg_tid_x();
#ifdef WRONG
    if (t % 32 == 0)
      __nvvm_bar_warp_sync(2); // finds: not in the mask
#else
    if (t % 32 == 0)
      __nvvm_bar_warp_sync(1);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
