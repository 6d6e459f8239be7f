// A table that kernels have for themselves is set on the host: with an update behind, or without.
// with: openmp gcc
#include <stdio.h>

#pragma omp declare target
int table[256];
#pragma omp end declare target

int main(void)
{
  int sum = 0;
  for (int i = 0; i < 256; ++i)
    table[i] = i;
#ifndef WRONG
#pragma omp target update to(table)
#endif
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 256; ++i)
    sum += table[i]; // finds: a kernel reads
  printf("%d\n", sum);
  return 0;
}
