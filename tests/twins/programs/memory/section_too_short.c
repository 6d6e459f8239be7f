// A section of half of what the loop uses.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

#ifdef WRONG
#define MAPPED 500
#else
#define MAPPED 1000
#endif

int main(void)
{
  int *a = calloc(1000, sizeof *a), sum = 0;
#pragma omp target teams distribute parallel for map(to: a[0:MAPPED]) reduction(+: sum)
  for (int i = 0; i < 1000; ++i)
    sum += a[i]; // finds: read
  printf("%d\n", sum);
  free(a);
  return 0;
}
