// A tree of sums over memory of the team: each step needs a barrier.
// with: openmp
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int total = 0;
#pragma omp target map(tofrom: total) thread_limit(128)
  {
    int part[128];
#pragma omp parallel num_threads(128)
    {
      int me = omp_get_thread_num(), count = omp_get_num_threads();
      part[me] = me;
      for (int half = count / 2; half > 0; half /= 2) {
#ifdef WRONG
        if (half == count / 2) {
#pragma omp barrier
        }
#else
#pragma omp barrier
#endif
        if (me < half)
          part[me] += part[me + half]; // finds
      }
      if (me == 0)
        total = part[0];
    }
  }
  printf("%d\n", total >= 0);
  return 0;
}
