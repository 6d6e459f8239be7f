// A list that threads add to, each by itself or not.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int used = 0, list[64];
#pragma omp target map(from: list) map(tofrom: used)
#pragma omp parallel for num_threads(64)
  for (int i = 0; i < 64; ++i) {
#ifndef WRONG
#pragma omp critical
#endif
    list[used++] = i; // finds
  }
  printf("%d\n", used);
  return 0;
}
