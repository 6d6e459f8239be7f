// A function maps its argument for itself, which its caller has mapped before: nothing is copied there.
// with: openmp gcc
// options: -O1 -g
#include <stdio.h>
#include <stdlib.h>

static void scale(double *a, int n)
{
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
  for (int i = 0; i < n; ++i)
    a[i] *= 2;
}

int main(void)
{
  int n = 8192;
  double *a = malloc(n * sizeof *a), sum = 0;
  for (int i = 0; i < n; ++i)
    a[i] = 1;
#pragma omp target data map(tofrom: a[0:n])
  {
    scale(a, n);
#ifndef WRONG
#pragma omp target update from(a[0:n])
#endif
    for (int i = 0; i < n; ++i)
      sum += a[i]; // finds: the host reads
  }
  printf("%g\n", sum);
  free(a);
  return 0;
}
