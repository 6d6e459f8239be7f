// The host writes what was there before the copy back, or after it. The program tells its accesses.
// with: openmp
// options: -O1 -g --check=map
#include <stdio.h>

int main(void)
{
  int a[16] = {0};
#pragma omp target enter data map(to : a)
#ifdef WRONG
  a[3] = 8; // finds
#endif
#pragma omp target
  for (int i = 4; i < 16; ++i)
    a[i] = i;
#pragma omp target exit data map(from : a) // finds: overwrites
  printf("%d\n", a[4]);
  return 0;
}
