// The host looks at data that stays on the device: with an update before, or without.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 8192;
  float *field = malloc(n * sizeof *field), largest = 0;
  for (int i = 0; i < n; ++i)
    field[i] = i % 7;
#pragma omp target data map(tofrom : field[0:n])
  {
    for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < n; ++i)
        field[i] += 1;
#ifndef WRONG
#pragma omp target update from(field[0:n])
#endif
      for (int i = 0; i < n; ++i)
        if (field[i] > largest) // finds: the host reads
          largest = field[i];
    }
  }
  printf("%g\n", largest);
  free(field);
  return 0;
}
