// An update to the host that is waited for before the host reads, or only at the end.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  enum { N = 50000 };
  int *a = calloc(N, sizeof *a);
  int sum = 0;
#pragma omp target enter data map(to: a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] += i;
#pragma omp target update from(a[0:N]) nowait // finds
#ifndef WRONG
#pragma omp taskwait
#endif
  for (int i = 0; i < N; ++i)
    sum += a[i] & 1; // finds: the host and a copy
#pragma omp taskwait
#pragma omp target exit data map(delete: a[0:N])
  printf("%d\n", sum > 0);
  free(a);
  return 0;
}
