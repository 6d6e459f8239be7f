// A stencil that reads before the first element.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>
#include <stdlib.h>

#ifdef WRONG
#define FIRST 0
#else
#define FIRST 1
#endif

int main(void)
{
  double *a = calloc(500, sizeof *a), *b = calloc(500, sizeof *b);
#ifdef _OPENACC
#pragma acc parallel loop copyin(a[0:500]) copy(b[0:500])
#else
#pragma omp target teams distribute parallel for map(to: a[0:500]) map(tofrom: b[0:500])
#endif
  for (int i = FIRST; i < 500; ++i)
    b[i] = a[i] - a[i - 1]; // finds: read
  printf("%g\n", b[7]);
  free(a);
  free(b);
  return 0;
}
