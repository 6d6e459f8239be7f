// The result of a region is copied back, or only its input was copied to the device.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

#ifdef WRONG
#define MAP to
#else
#define MAP tofrom
#endif

int main(void)
{
  int n = 8192;
  double *a = malloc(n * sizeof *a), sum = 0;
  for (int i = 0; i < n; ++i)
    a[i] = i;
#pragma omp target teams distribute parallel for map(MAP : a[0:n])
  for (int i = 0; i < n; ++i)
    a[i] = a[i] * 2 + 1;
  for (int i = 0; i < n; ++i)
    sum += a[i]; // finds: the host reads
  printf("%g\n", sum);
  free(a);
  return 0;
}
