// A barrier in one of the sections.
// with: openmp gcc
#include <stdio.h>

static void meet(int *a)
{
#ifdef WRONG
#pragma omp barrier
#endif
  a[0] = 1;
}

int main(void)
{
  int a[4] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(32)
  {
#pragma omp sections
    {
#pragma omp section
      meet(a);
#pragma omp section
      a[1] = 1;
    }
    if (a[0] + a[1] != 2)
      a[2] = 1;
  }
  printf("%d\n", a[2]);
  return 0;
}
