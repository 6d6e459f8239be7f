// A loop that goes one element too far.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>
#include <stdlib.h>

#ifdef WRONG
#define LAST 1000
#else
#define LAST 999
#endif

int main(void)
{
  int *a = malloc(1000 * sizeof *a);
#ifdef _OPENACC
#pragma acc parallel loop copyout(a[0:1000])
#else
#pragma omp target teams distribute parallel for map(from: a[0:1000])
#endif
  for (int i = 0; i <= LAST; ++i)
    a[i] = i; // finds
  printf("%d\n", a[7]);
  free(a);
  return 0;
}
