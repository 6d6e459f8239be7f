// An update brings back what no region has written.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[300]; // finds: copied back
  for (int i = 0; i < 300; ++i)
    a[i] = i;
#pragma omp target enter data map(alloc: a)
#ifndef WRONG
#pragma omp target
  for (int i = 0; i < 300; ++i)
    a[i] = 2 * i;
#endif
#pragma omp target update from(a)
#pragma omp target exit data map(delete: a)
  printf("%d\n", a[4]);
  return 0;
}
