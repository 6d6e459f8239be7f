// Memory that is there and has nothing in it.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[128], found = 0;
  for (int i = 0; i < 128; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target map(alloc: a) map(tofrom: found)
#else
#pragma omp target map(to: a) map(tofrom: found)
#endif
  for (int i = 0; i < 128; ++i)
    if (a[i] == 77) // finds: `a`
      found = i;
  printf("%d\n", found);
  return 0;
}
