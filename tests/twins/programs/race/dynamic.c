// A loop whose chunks go to whoever is free; a counter of the region's that each chunk raises.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int chunks = 0, a[400];
#pragma omp target map(from: a) map(tofrom: chunks)
#pragma omp parallel for schedule(dynamic, 4) num_threads(32)
  for (int i = 0; i < 400; ++i) {
    a[i] = i;
    if (i % 4 == 0) {
#ifndef WRONG
#pragma omp atomic
#endif
      chunks += 1; // finds
    }
  }
  printf("%d\n", chunks > 0);
  return 0;
}
