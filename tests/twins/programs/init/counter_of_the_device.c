// A counter that is only allocated.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 100 };
  int a[N], counts[4] = {0}; // finds: copied back
  for (int i = 0; i < N; ++i)
    a[i] = i % 4;
#ifdef _OPENACC
#ifdef WRONG
#pragma acc parallel loop copyin(a) copyout(counts)
#else
#pragma acc parallel loop copyin(a) copy(counts)
#endif
#else
#ifdef WRONG
#pragma omp target map(to: a) map(from: counts)
#else
#pragma omp target map(to: a) map(tofrom: counts)
#endif
#endif
  for (int i = 0; i < N; ++i)
#ifdef _OPENACC
#pragma acc atomic
#endif
    counts[a[i]] += 1;
  printf("%d\n", counts[1] >= 0);
  return 0;
}
