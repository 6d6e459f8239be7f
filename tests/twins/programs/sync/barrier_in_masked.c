// A barrier in what one thread of the team does.
// with: openmp gcc
#include <stdio.h>

static void meet(int *a)
{
  a[0] = 1;
#ifdef WRONG
#pragma omp barrier
#endif
}

int main(void)
{
  int a[4] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(32)
  {
#pragma omp masked
    meet(a);
#pragma omp barrier // finds
    if (a[0] != 1)
      a[1] = 1;
  }
  printf("%d\n", a[1]);
  return 0;
}
