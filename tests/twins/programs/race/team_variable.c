// A variable of the team that one thread sets, in code without optimisation: the device runtime has memory for it.
// with: openmp
// options: -O0 -g
#include <stdio.h>

int main(void)
{
  int b[96];
#pragma omp target map(from: b)
  {
    int value = 1;
#pragma omp parallel num_threads(96)
    {
#ifdef WRONG
#pragma omp single nowait
#else
#pragma omp single
#endif
      value = 7; // finds
#pragma omp for
      for (int i = 0; i < 96; ++i)
        b[i] = value;
    }
  }
  printf("%d\n", b[3]);
  return 0;
}
