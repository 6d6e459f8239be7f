// The host's part of an array is released with the rest, or overwritten by the copy back.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[1024];
  for (int i = 0; i < 1024; ++i)
    a[i] = i;
#pragma omp target enter data map(to : a)
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 512; ++i)
    a[i] = -i;
#ifndef WRONG
#pragma omp target update from(a[0:512])
#endif
  for (int i = 512; i < 1024; ++i)
    a[i] = 2 * i;
#ifdef WRONG
#pragma omp target exit data map(from : a) // finds: overwrites
#else
#pragma omp target exit data map(release : a)
#endif
  printf("%d\n", a[511] + a[1023]);
  return 0;
}
