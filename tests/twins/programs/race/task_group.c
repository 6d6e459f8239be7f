// Regions in a task group, whose sum the next one needs: it stands behind the group, or in it.
// with: openmp gcc
#include <stdio.h>

enum { N = 1000, PARTS = 4 };

int main(void)
{
  int a[PARTS][N], sum = 0;
  for (int part = 0; part < PARTS; ++part)
    for (int i = 0; i < N; ++i)
      a[part][i] = i;
#pragma omp target data map(tofrom: a)
  {
#pragma omp taskgroup
    {
      for (int part = 0; part < PARTS; ++part) {
#pragma omp target teams distribute parallel for nowait firstprivate(part)
        for (int i = 0; i < N; ++i)
          a[part][i] += part; // finds
      }
#ifndef WRONG
    }
#endif
#pragma omp target teams distribute parallel for collapse(2) reduction(+: sum) map(tofrom: sum)
      for (int part = 0; part < PARTS; ++part)
        for (int i = 0; i < N; ++i)
          sum += a[part][i];
#ifdef WRONG
    }
#endif
  }
  printf("%d\n", sum);
  return 0;
}
