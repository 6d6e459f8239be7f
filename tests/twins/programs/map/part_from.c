// The halo of a field is fetched on both sides, or on one.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 1 << 16, halo = 4096;
  int *a = calloc(n, sizeof *a), sum = 0;
#pragma omp target enter data map(to : a[0:n])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i)
    a[i] = i;
#pragma omp target update from(a[0:halo])
#ifndef WRONG
#pragma omp target update from(a[n - halo:halo])
#endif
  for (int i = 0; i < halo; ++i)
    sum += a[i];
  for (int i = n - halo; i < n; ++i)
    sum ^= a[i]; // finds: the host reads
#pragma omp target exit data map(delete : a[0:n])
  printf("%d\n", sum);
  free(a);
  return 0;
}
