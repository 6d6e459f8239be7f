// An update of one place by all iterations, atomic or not.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int bins[8] = {0};
#ifdef _OPENACC
#pragma acc parallel loop copy(bins)
#else
#pragma omp target teams distribute parallel for map(tofrom: bins)
#endif
  for (int i = 0; i < 1000; ++i) {
#ifdef _OPENACC
#ifndef WRONG
#pragma acc atomic update
#endif
#else
#ifndef WRONG
#pragma omp atomic
#endif
#endif
    bins[i % 8] += 1; // finds
  }
  printf("%d\n", bins[3]);
  return 0;
}
