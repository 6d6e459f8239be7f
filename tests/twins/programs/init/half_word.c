// Half of each number is written.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  unsigned a[128];
  int many = 0;
#pragma omp target map(alloc: a) map(tofrom: many)
  {
    for (int i = 0; i < 128; ++i)
      ((unsigned short *)(char *)a)[2 * i] = i;
    for (int i = 0; i < 128; ++i)
#ifdef WRONG
      if (a[i] % 1000 > 50) // finds
#else
      if ((a[i] & 0xffff) > 50)
#endif
        ++many;
  }
  printf("%d\n", many);
  return 0;
}
