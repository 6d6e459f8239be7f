// The first thread writes, and others read; `masked` has no barrier of its own.
// with: openmp
#include <stdio.h>

int main(void)
{
  int value = 0, b[128];
#pragma omp target map(from: b) map(tofrom: value)
#pragma omp parallel num_threads(128)
  {
#pragma omp masked
    value = 7;
#ifndef WRONG
#pragma omp barrier
#endif
#pragma omp for
    for (int i = 0; i < 128; ++i)
      b[i] = value; // finds
  }
  printf("%d\n", b[3]);
  return 0;
}
