// A table of the device that the host changes in each step, and updates as a whole or by its first half.
// with: openmp gcc
#include <stdio.h>

#pragma omp declare target
double table[512];
#pragma omp end declare target

int main(void)
{
  double sum = 0;
  for (int step = 0; step < 4; ++step) {
    for (int i = 0; i < 512; ++i)
      table[i] = step * i + 1;
#ifdef WRONG
#pragma omp target update to(table[0:256])
#else
#pragma omp target update to(table)
#endif
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
    for (int i = 0; i < 512; ++i)
      sum += table[i]; // finds: a kernel reads an old value
  }
  printf("%g\n", sum);
  return 0;
}
