// Two critical regions about one variable: of one name, or of two.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int total = 0;
#pragma omp target parallel map(tofrom: total) num_threads(64)
  {
#pragma omp critical(counting)
    total += 1; // finds
#ifdef WRONG
#pragma omp critical(other)
#else
#pragma omp critical(counting)
#endif
    total += 2;
  }
  printf("%d\n", total);
  return 0;
}
