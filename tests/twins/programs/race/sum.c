// A sum that all iterations add to.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int sum = 0;
#ifdef _OPENACC
#ifdef WRONG
#pragma acc parallel loop copy(sum)
#else
#pragma acc parallel loop reduction(+: sum)
#endif
#else
#ifdef WRONG
#pragma omp target teams distribute parallel for map(tofrom: sum)
#else
#pragma omp target teams distribute parallel for map(tofrom: sum) reduction(+: sum)
#endif
#endif
  for (int i = 0; i < 1000; ++i)
    sum += i; // finds
  printf("%d\n", sum);
  return 0;
}
