// Indices that are not there.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[256] = {0}, index[256];
  for (int i = 0; i < 256; ++i)
    index[i] = 255 - i;
#ifdef WRONG
#pragma omp target teams distribute parallel for map(tofrom: a) map(alloc: index)
#else
#pragma omp target teams distribute parallel for map(tofrom: a) map(to: index)
#endif
  for (int i = 0; i < 256; ++i)
    a[index[i] & 255] = i; // finds: an address
  printf("%d\n", a[3]);
  return 0;
}
