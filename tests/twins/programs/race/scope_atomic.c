// A counter of all teams that is atomic for the threads of one block alone.
// with: openmp
#include <stdio.h>

#pragma omp begin declare target
// On the host there is one team.
static inline void count(unsigned *counter)
{
#ifndef __NVPTX__
#pragma omp atomic
  ++*counter;
#elif defined WRONG
  __asm__ volatile("red.relaxed.cta.global.add.u32 [%0], 1;" ::"l"(counter) : "memory"); // finds: threads of two blocks
#else
  __asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#endif
}
#pragma omp end declare target

int main(void)
{
  unsigned counter = 0;
#pragma omp target teams num_teams(4) thread_limit(32) map(tofrom: counter)
#pragma omp parallel
  count(&counter);
  printf("%d\n", counter > 0);
  return 0;
}
