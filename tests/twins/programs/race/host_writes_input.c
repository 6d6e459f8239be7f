// The host writes what a region in a task is still to be given.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 1000 };
  static int a[N], b[N];
#pragma omp target teams distribute parallel for map(to: a) map(from: b) nowait depend(out: b)
  for (int i = 0; i < N; ++i)
    b[i] = a[i] + 1;
#ifndef WRONG
#pragma omp taskwait
#endif
  a[3] = 4; // finds: `a`
#pragma omp taskwait
  printf("%d\n", b[7]);
  return 0;
}
