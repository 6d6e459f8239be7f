// Two sections of which one reads what the other writes.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a = 1, b = 0, c = 0;
#pragma omp target map(tofrom: a, b, c)
#pragma omp parallel num_threads(64)
  {
#pragma omp sections
    {
#pragma omp section
      b = a + 1;
#ifdef WRONG
#pragma omp section
      c = b + 1;
#endif
    }
#ifndef WRONG
#pragma omp single
    c = b + 1;
#endif
  }
  printf("%d\n", c >= 0);
  return 0;
}
