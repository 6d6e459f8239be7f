// The device is made ready by the first of several tasks, and the others do not wait for it.
// with: openmp
#include <omp.h>
#include <stdio.h>

#define N 1000

static double a[N], b[N];

#ifdef WRONG
#define c a
#else
#define c b
#endif

int main(void)
{
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp target map(tofrom: a) nowait
    for (int i = 0; i < N; i++)
      a[i] += omp_get_device_num() + i; // finds
#pragma omp target map(tofrom: c) nowait
    for (int i = 0; i < N; i++)
      c[i] += omp_get_device_num() + 2 * i;
  }
  printf("%g %g\n", a[N - 1], b[N - 1]);
  return 0;
}
