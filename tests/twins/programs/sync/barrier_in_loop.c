// A barrier in the iterations of a loop that the threads of a team share, as a function hides it from the compiler.
// with: openmp gcc
#include <stdio.h>

void step(int *a, int i)
{
#ifdef WRONG
#pragma omp barrier
#endif
  a[i] = i;
}

int main(void)
{
  int a[100] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
#pragma omp for
    for (int i = 0; i < 100; ++i)
      step(a, i);
  }
  printf("%d\n", a[5]);
  return 0;
}
