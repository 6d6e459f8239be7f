// What comes back has been written by half.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  enum { N = 1000 };
  double a[N]; // finds: copied back to the program, the first at 4000 bytes into `a`
  for (int i = 0; i < N; ++i)
    a[i] = 1;
#ifdef WRONG
#pragma omp target teams distribute parallel for map(from: a)
#else
#pragma omp target teams distribute parallel for map(tofrom: a)
#endif
  for (int i = 0; i < N / 2; ++i)
    a[i] = i;
  printf("%g\n", a[10]);
  return 0;
}
