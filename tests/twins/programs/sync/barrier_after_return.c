// Threads without work skip the work, and all come to the barrier. Wrong: they skip that, too.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>
int main(void) {
  int a[64] = {0}, sum = 0;
#pragma omp target map(tofrom : a, sum)
#pragma omp parallel num_threads(64)
  {
    int me = omp_get_thread_num();
    for (int step = 1; step < 64; step *= 2) {
#ifdef WRONG
      if (me < step) {
        a[me] += step;
#pragma omp barrier // finds
      }
#else
      if (me < step)
        a[me] += step;
#pragma omp barrier
#endif
    }
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 64; i++)
      sum += a[i];
  }
  printf("%d\n", sum);
  return 0;
}
