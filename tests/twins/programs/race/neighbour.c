// Each iteration reads what the next one writes.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int a[1001], b[1001];
  for (int i = 0; i <= 1000; ++i)
    a[i] = b[i] = i;
#ifdef _OPENACC
#pragma acc parallel loop copy(a, b)
#else
#pragma omp target teams distribute parallel for map(tofrom: a, b)
#endif
  for (int i = 0; i < 1000; ++i)
#ifdef WRONG
    a[i] = a[i + 1] + 1; // finds
#else
    a[i] = b[i + 1] + 1;
#endif
  printf("%d\n", a[500]);
  return 0;
}
