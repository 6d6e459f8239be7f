// A private variable has no value; a first-private one has.
// with: openmp gcc
// options: -O0 -g
#include <stdio.h>

int main(void)
{
  int limit = 10, many = 0;
#ifdef WRONG
#pragma omp target teams distribute parallel for private(limit) reduction(+: many)
#else
#pragma omp target teams distribute parallel for firstprivate(limit) reduction(+: many)
#endif
  for (int i = 0; i < 64; ++i)
    if (i < limit) // finds
      many += 1;
  printf("%d\n", many);
  return 0;
}
