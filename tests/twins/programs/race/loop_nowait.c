// Two loops with the threads in another order, of which the first does not wait.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[512], b[512];
#pragma omp target map(from: a, b)
#pragma omp parallel num_threads(128)
  {
#ifdef WRONG
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = 0; i < 512; ++i)
      a[i] = i;
#pragma omp for
    for (int i = 0; i < 512; ++i)
      b[i] = a[511 - i]; // finds
  }
  printf("%d\n", b[3]);
  return 0;
}
