// A message from one team to another with a fence that is one for the threads of a block alone: __threadfence_block.
// with: openmp
#include <stdio.h>
#include <omp.h>

#pragma omp begin declare target
static inline void fence(void)
{
#ifdef __NVPTX__
#ifdef WRONG
  __nvvm_membar_cta();
#else
  __nvvm_membar_gl();
#endif
#endif
}
#pragma omp end declare target

int main(void)
{
  int data = 0, flag = 0, got = -1;
#pragma omp target teams num_teams(2) thread_limit(32) map(tofrom: data, flag, got)
  {
    volatile int *raised = &flag;
    if (omp_get_team_num() == 0) {
      data = 42;
      fence();
      *raised = 1;
    } else {
      int seen = 0;
      for (int tries = 0; tries < 1000000 && !seen; ++tries)
        seen = *raised;
      fence();
      if (seen)
        got = data; // finds: threads of two blocks
    }
  }
  printf("%d\n", got == 42 || got == -1);
  return 0;
}
