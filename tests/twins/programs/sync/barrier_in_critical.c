// A barrier in a critical region: whoever is there waits for threads that wait for the region.
// with: openmp gcc
#include <stdio.h>

static void add(int *a)
{
  a[0] += 1;
#ifdef WRONG
#pragma omp barrier // finds
#endif
}

int main(void)
{
  int a[4] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(32)
  {
#pragma omp critical
    add(a);
#pragma omp barrier
    if (a[0] != 32)
      a[1] = 1;
  }
  printf("%d\n", a[1]);
  return 0;
}
