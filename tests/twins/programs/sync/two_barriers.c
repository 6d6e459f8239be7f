// Threads of a team at two barriers, one for each way of a branch, or at one.
// with: openmp
#include <omp.h>
#include <stdio.h>

static void one(void)
{
#pragma omp barrier // finds
}

static void other(void)
{
#pragma omp barrier
}

int main(void)
{
  int a[64] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    int t = omp_get_thread_num();
    a[t] = t;
#ifdef WRONG
    if (2 * t < omp_get_num_threads())
#else
    if (t < omp_get_num_threads())
#endif
      one();
    else
      other();
    int next = a[63 - t];
#pragma omp barrier
    a[t] = next;
  }
  printf("%d\n", a[5]);
  return 0;
}
