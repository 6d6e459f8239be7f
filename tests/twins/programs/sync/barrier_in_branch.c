// A barrier that only some threads of a team come to.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

static void meet(void)
{
#pragma omp barrier
}

int main(void)
{
  int a[128] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    int t = omp_get_thread_num();
    a[t] = t;
#ifdef WRONG
    if (2 * t < omp_get_num_threads())
#endif
      meet();
    a[64 + t] = a[t];
#pragma omp barrier // finds
    a[t] = a[127 - t];
  }
  printf("%d\n", a[5]);
  return 0;
}
