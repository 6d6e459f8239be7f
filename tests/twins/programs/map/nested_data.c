// A construct within another one: what is present stays where it is, and needs an update.
// with: openmp gcc
#include <stdio.h>

static double a[8192];

static double total(void)
{
  double sum = 0;
#ifndef WRONG
#pragma omp target update from(a)
#endif
  for (int i = 0; i < 8192; ++i)
    sum += a[i]; // finds: the host reads
  return sum;
}

int main(void)
{
  for (int i = 0; i < 8192; ++i)
    a[i] = i;
  double sum = 0;
#pragma omp target data map(tofrom: a)
  {
#pragma omp target data map(tofrom: a)
    {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < 8192; ++i)
        a[i] += 1;
    }
    sum = total();
  }
  printf("%g\n", sum);
  return 0;
}
