// A sum is taken of what does not go to the device.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[64]; // finds: copied back
  for (int i = 0; i < 64; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target map(from: a)
#else
#pragma omp target map(tofrom: a)
#endif
  for (int i = 0; i < 64; ++i)
    a[i] += 1; // finds
  printf("%d\n", a[5]);
  return 0;
}
