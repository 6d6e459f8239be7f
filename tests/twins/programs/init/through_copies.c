// A region copies what the next one asks for.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  enum { N = 500 };
  static float a[N], b[N];
  int many = 0;
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target data map(alloc: a, b) map(tofrom: many)
#else
#pragma omp target data map(to: a) map(alloc: b) map(tofrom: many)
#endif
  {
#pragma omp target
    for (int i = 0; i < N; ++i)
      b[i] = a[i] * 2; // finds
#pragma omp target map(tofrom: many)
    for (int i = 0; i < N; ++i)
      if (b[i] > 10) // finds: `a`
        ++many;
  }
  printf("%d\n", many);
  return 0;
}
