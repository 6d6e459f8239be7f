// The host changes what a processor as device has a copy of: with an update behind, or without. The program tells its accesses.
// with: openmp
// options: -O1 -g --check=map
// device: cpu
#include <stdio.h>

int main(void)
{
  double c[64], out[64];
  for (int i = 0; i < 64; ++i)
    c[i] = i;
#pragma omp target data map(to : c) map(from : out)
  {
    for (int step = 0; step < 3; ++step) {
      c[5] += 1; // finds
#ifndef WRONG
#pragma omp target update to(c)
#endif
#pragma omp target teams distribute parallel for
      for (int i = 0; i < 64; ++i)
        out[i] = c[i] * 2;
    }
  }
  printf("%g\n", 0 * out[5]);
  return 0;
}
