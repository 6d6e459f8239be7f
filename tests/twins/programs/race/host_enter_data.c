// An array is sent to the device in a task, and the host writes it meanwhile, or before.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 3000 };
  static float a[N];
#ifndef WRONG
  for (int i = 0; i < N; ++i)
    a[i] = 1;
#endif
#pragma omp target enter data map(to: a) nowait // finds: the host and a copy
#ifdef WRONG
  for (int i = 0; i < N; ++i)
    a[i] = 1; // finds: the host and a copy
#endif
#pragma omp taskwait
#pragma omp target exit data map(from: a)
  printf("%g\n", a[7]);
  return 0;
}
