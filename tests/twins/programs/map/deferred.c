// Two regions and a copy back that nobody waits for at once, in an order: the copy is the last of it, or is missing.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 8192;
  int *a = calloc(n, sizeof *a), sum = 0;
#pragma omp target enter data map(to : a[0:n])
#pragma omp target teams distribute parallel for nowait depend(inout : a[0])
  for (int i = 0; i < n; ++i)
    a[i] = i;
#pragma omp target teams distribute parallel for nowait depend(inout : a[0])
  for (int i = 0; i < n; ++i)
    a[i] += 1;
#ifndef WRONG
#pragma omp target update from(a[0:n]) nowait depend(in : a[0])
#endif
#pragma omp taskwait
  for (int i = 0; i < n; ++i)
    sum ^= a[i]; // finds: the host reads
#pragma omp target exit data map(delete : a[0:n])
  printf("%d\n", sum);
  free(a);
  return 0;
}
