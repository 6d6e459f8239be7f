// Threads that leave a function before the barrier in it.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

static void step(int *a, int t, int n)
{
#ifdef WRONG
  if (t >= n)
    return;
  a[t] = t;
#else
  if (t < n)
    a[t] = t;
#endif
#pragma omp barrier
  if (t < n)
    a[t] += a[n - 1 - t] * 0;
}

int main(void)
{
  int a[64] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    step(a, omp_get_thread_num(), omp_get_num_threads() / 2);
#pragma omp barrier // finds
    a[omp_get_thread_num()] += 1;
  }
  printf("%d\n", a[5]);
  return 0;
}
