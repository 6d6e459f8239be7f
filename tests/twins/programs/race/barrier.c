// A phase that reads what other threads have written in the phase before.
// with: openmp gcc
#include <stdio.h>
#include <omp.h>

int main(void)
{
  int a[64], b[64];
#pragma omp target map(from: a, b)
#pragma omp parallel num_threads(64)
  {
    int i = omp_get_thread_num(), n = omp_get_num_threads();
    for (int k = i; k < 64; k += n)
      a[k] = k;
#ifndef WRONG
#pragma omp barrier
#endif
    for (int k = i; k < 64; k += n)
      b[k] = a[63 - k]; // finds
  }
  printf("%d\n", b[3]);
  return 0;
}
