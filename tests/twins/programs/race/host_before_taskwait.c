// The host reads what a region in a task brings back, before it has waited for the task or behind that.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 1000 };
  int a[N], sum = 0;
#pragma omp target teams distribute parallel for map(from: a) nowait // finds: the host and a copy
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef WRONG
  sum += a[7]; // finds: the host and a copy, to
#endif
#pragma omp taskwait
  sum += a[7];
  printf("%d\n", sum > 0);
  return 0;
}
