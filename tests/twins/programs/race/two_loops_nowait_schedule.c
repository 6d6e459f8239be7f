// `nowait` between two loops is right where both give each thread the same iterations.
// with: openmp gcc
#include <stdio.h>

#ifdef WRONG
#define SECOND schedule(static, 1)
#else
#define SECOND schedule(static)
#endif

int main(void)
{
  enum { N = 640 };
  int a[N], b[N];
#pragma omp target map(from: a, b)
#pragma omp parallel num_threads(64)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < N; ++i)
      a[i] = i; // finds
#pragma omp for SECOND
    for (int i = 0; i < N; ++i)
      b[i] = a[i] * 2; // finds
  }
  printf("%d\n", b[9] >= 0);
  return 0;
}
