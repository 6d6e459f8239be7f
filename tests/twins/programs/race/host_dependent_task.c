// The host works on what a region brings back: in a task that depends on the region, or in none.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  static int a[N], b[N];
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target teams distribute parallel for map(tofrom: a) nowait depend(out: a)
    for (int i = 0; i < N; ++i)
      a[i] = i;
#ifndef WRONG
#pragma omp task depend(inout: a)
#endif
    for (int i = 0; i < N; ++i)
      a[i] += 1; // finds: the host and a copy
#pragma omp target teams distribute parallel for map(to: a) map(from: b) nowait depend(inout: a)
    for (int i = 0; i < N; ++i)
      b[i] = a[i];
  }
  printf("%d\n", b[7] >= 0);
  return 0;
}
