// The host resets what a kernel counts in: with an update behind, or without, and the copy back undoes it.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int counts[32] = {0}, total = 0;
#pragma omp target enter data map(to : counts)
  for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 1024; ++i) {
#pragma omp atomic
      counts[i % 32] += 1; // finds: a kernel reads
    }
#pragma omp target update from(counts)
    for (int i = 0; i < 32; ++i) {
      total += counts[i];
      counts[i] = 0;
    }
#ifndef WRONG
#pragma omp target update to(counts)
#endif
  }
#pragma omp target exit data map(delete : counts)
  printf("%d\n", total);
  return 0;
}
