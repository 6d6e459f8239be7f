// Three regions that are tasks: the last one needs what both others have computed.
// with: openmp gcc
#include <stdio.h>

enum { N = 3000 };

int main(void)
{
  float x[N], y[N], z[N];
  for (int i = 0; i < N; ++i)
    x[i] = y[i] = z[i] = i;
#pragma omp target data map(tofrom: x, y, z)
  {
#pragma omp target teams distribute parallel for nowait depend(out: x)
    for (int i = 0; i < N; ++i)
      x[i] *= 2;
#pragma omp target teams distribute parallel for nowait depend(out: y)
    for (int i = 0; i < N; ++i)
      y[i] += 1; // finds
#ifdef WRONG
#pragma omp target teams distribute parallel for nowait depend(in: x) depend(out: z)
#else
#pragma omp target teams distribute parallel for nowait depend(in: x, y) depend(out: z)
#endif
    for (int i = 0; i < N; ++i)
      z[i] = x[i] + y[i];
#pragma omp taskwait
  }
  printf("%g\n", z[7]);
  return 0;
}
