// How long a loop runs.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int lengths[32], sum = 0;
  for (int i = 0; i < 32; ++i)
    lengths[i] = i;
#ifdef WRONG
#pragma omp target map(alloc: lengths) map(tofrom: sum)
#else
#pragma omp target map(to: lengths) map(tofrom: sum)
#endif
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < (lengths[i] & 31); ++j) // finds
      sum += i ^ j;
  printf("%d\n", sum);
  return 0;
}
