// A routine of OpenACC that has a barrier of the block's: iterations of a vector loop come to it, all or some.
// with: openacc
#include <stdio.h>
#ifdef __NVPTX__
#define BARRIER __nvvm_barrier_sync_cnt(3, 64)
#else
#define BARRIER
#endif

#pragma acc routine seq
void meet(void) { BARRIER; } // finds: wait for each other for ever

int main(void)
{
  int a[64] = {0};
#pragma acc parallel num_gangs(1) vector_length(64) copy(a)
  {
#pragma acc loop vector
    for (int i = 0; i < 64; ++i) {
#ifdef WRONG
      if (i < 32)
#endif
        meet();
      a[i] = i;
    }
  }
  printf("%d\n", a[5]);
  return 0;
}
