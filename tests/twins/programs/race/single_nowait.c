// One thread writes what all read.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int value = 0, b[128];
#pragma omp target map(from: b) map(tofrom: value)
#pragma omp parallel num_threads(128)
  {
#ifdef WRONG
#pragma omp single nowait
#else
#pragma omp single
#endif
    value = 7; // finds
#pragma omp for
    for (int i = 0; i < 128; ++i)
      b[i] = value;
  }
  printf("%d\n", b[3]);
  return 0;
}
