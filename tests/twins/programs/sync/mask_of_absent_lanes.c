// A mask that names lanes which wait elsewhere.
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
    if (t % 32 < 16)
      __nvvm_bar_warp_sync(0xffffffff); // finds: wait for each other for ever
    else
      __nvvm_bar_warp_sync(0xffffff00);
#else
    if (t % 32 < 16)
      __nvvm_bar_warp_sync(0x0000ffff);
    else
      __nvvm_bar_warp_sync(0xffff0000);
#endif
    a[64 + t] = a[t];
  }
  printf("%d\n", a[5]);
  return 0;
}
