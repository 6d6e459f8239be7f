// A chain of regions of which the second names its input, and not what the first has written.
// with: openmp gcc
#include <stdio.h>

#ifdef WRONG
#define NEEDS a
#else
#define NEEDS b
#endif

int main(void)
{
  enum { N = 1000 };
  static int a[N], b[N], c[N];
  for (int i = 0; i < N; ++i)
    a[i] = i;
#pragma omp target data map(to: a) map(from: b, c)
  {
#pragma omp target teams distribute parallel for nowait depend(in: a) depend(out: b)
    for (int i = 0; i < N; ++i)
      b[i] = 2 * a[i]; // finds
#pragma omp target teams distribute parallel for nowait depend(in: NEEDS) depend(out: c)
    for (int i = 0; i < N; ++i)
      c[i] = b[i] + 1; // finds
#pragma omp taskwait
  }
  printf("%d\n", c[9]);
  return 0;
}
