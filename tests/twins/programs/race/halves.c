// Numbers of two bytes: a region in a task writes them, one beside it does, too.
// with: openmp
#include <stdio.h>

int main(void)
{
  enum { N = 40 };
  short a[N];
  for (int i = 0; i < N; ++i)
    a[i] = i;
#pragma omp target enter data map(to: a)
#pragma omp target teams distribute parallel for nowait
  for (int i = 0; i < N; ++i)
    a[i] = 2 * i; // finds: `a`
#ifndef WRONG
#pragma omp taskwait
#endif
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = a[i] + 1; // finds: `a`
#pragma omp taskwait
#pragma omp target exit data map(from: a)
  printf("%d\n", a[7] >= 0);
  return 0;
}
