// Places by a table, in which one stands twice.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int to[300], a[300] = {0};
  for (int i = 0; i < 300; ++i)
    to[i] = (i * 7) % 300;
#ifdef WRONG
  to[17] = to[203];
#endif
#ifdef _OPENACC
#pragma acc parallel loop copyin(to) copy(a)
#else
#pragma omp target teams distribute parallel for map(to: to) map(tofrom: a)
#endif
  for (int i = 0; i < 300; ++i)
    a[to[i]] = i; // finds
  printf("%d\n", a[7]);
  return 0;
}
