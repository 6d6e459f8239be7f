// A loop with a barrier whose turns depend on the thread: all go round as often, or not.
// with: openmp
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int a[64];
  for (int i = 0; i < 64; ++i)
    a[i] = i;
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    int me = omp_get_thread_num();
#ifdef WRONG
    int rounds = 3 + (me >= 32);
#else
    int rounds = 3;
#endif
    for (int round = 0; round < rounds; ++round) {
      a[me] += round;
#pragma omp barrier // finds
    }
#pragma omp barrier
    a[me] += 1;
  }
  printf("%d\n", a[3]);
  return 0;
}
