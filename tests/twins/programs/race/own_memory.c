// So much is mapped that each page counts as one of interest: also those in which Gangway has what it knows, which grows
// with each round.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  size_t size = (size_t)257 << 20;
  char *large = calloc(size, 1);
  int few[4] = {1, 2, 3, 4}, sum = 0;
#pragma omp target enter data map(to: large[0:size], few)
  for (int i = 0; i < 3; ++i) {
#pragma omp target update to(few)
#pragma omp target map(tofrom: sum)
    sum += few[0];
  }
#pragma omp target update from(few) nowait // finds
#ifndef WRONG
#pragma omp taskwait
#endif
  sum += few[0]; // finds
#pragma omp taskwait
#pragma omp target exit data map(delete: large[0:size], few)
  free(large);
  printf("%d\n", sum);
  return sum != 4;
}
