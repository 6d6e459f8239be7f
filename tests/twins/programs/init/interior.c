// A grid whose interior is computed: the border is set as well, or comes back as it is.
// with: openmp gcc
#include <stdio.h>

enum { N = 40 };

int main(void)
{
  static float out[N][N]; // finds: copied back to the program
#pragma omp target map(from: out)
  {
#pragma omp parallel for collapse(2)
    for (int i = 1; i < N - 1; ++i)
      for (int j = 1; j < N - 1; ++j)
        out[i][j] = i * j;
#ifndef WRONG
#pragma omp parallel for
    for (int i = 0; i < N - 1; ++i)
      out[0][i] = out[N - 1][i + 1] = out[i + 1][0] = out[i][N - 1] = 1;
#endif
  }
  printf("%g\n", out[2][3]);
  return 0;
}
