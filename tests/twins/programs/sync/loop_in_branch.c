// A loop that threads of a team share, and that only some of them come to.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

static void shared(int *a)
{
#pragma omp for
  for (int i = 0; i < 256; ++i)
    a[i] = i;
}

int main(void)
{
  int a[256] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    int t = omp_get_thread_num();
#ifdef WRONG
    if (2 * t < omp_get_num_threads())
#endif
      shared(a);
#pragma omp barrier // finds
    if (a[t] < 0)
      a[t] = 0;
  }
  printf("%d\n", a[5]);
  return 0;
}
