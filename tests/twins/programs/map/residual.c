// A solver whose host looks at the residual each step, which comes back only at the end.
// with: openmp gcc
// options: -O1 -g
#include <stdio.h>

enum { N = 8192 };
static double x[N], r[N];

int main(void)
{
  double norm = 0;
  for (int i = 0; i < N; ++i)
    r[i] = 1;
#pragma omp target data map(tofrom: x, r)
  for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; ++i) {
      x[i] += r[i];
      r[i] *= 0.5;
    }
#ifndef WRONG
#pragma omp target update from(r)
#endif
    norm = 0;
    for (int i = 0; i < N; ++i)
      norm += r[i] * r[i]; // finds: the host reads
  }
  printf("%g\n", norm);
  return 0;
}
