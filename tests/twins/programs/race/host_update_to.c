// The host goes on with an array while it is sent to the device; in a task group, whose end waits.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  static double a[N];
#pragma omp target data map(to: a)
  {
#pragma omp taskgroup
    {
      a[1] = 2;
#pragma omp target update to(a) nowait
#ifdef WRONG
      a[2] = 3; // finds: the host and a copy
#endif
    }
#ifndef WRONG
    a[2] = 3;
#endif
  }
  printf("%g\n", a[1]);
  return 0;
}
