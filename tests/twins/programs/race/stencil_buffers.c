// A stencil with two buffers, whose steps are tasks in a chain: each waits for the one before, or only for who has written
// the same buffer.
// with: openmp gcc
#include <stdio.h>

enum { N = 4000, STEPS = 6 };
static double grid[2][N];

int main(void)
{
  for (int i = 0; i < N; ++i)
    grid[0][i] = grid[1][i] = i % 17;
  double *a = grid[0], *b = grid[1];
#pragma omp target data map(tofrom: a[0:N], b[0:N])
  {
    for (int step = 0; step < STEPS; ++step) {
      double *old = step % 2 ? b : a, *new = step % 2 ? a : b;
#ifdef WRONG
#pragma omp target teams distribute parallel for nowait depend(inout: new[0])
#else
#pragma omp target teams distribute parallel for nowait depend(in: old[0]) depend(inout: new[0])
#endif
      for (int i = 1; i < N - 1; ++i)
        new[i] = 0.5 * old[i] + 0.25 * (old[i - 1] + old[i + 1]); // finds
    }
#pragma omp taskwait
  }
  printf("%g\n", grid[STEPS % 2][5]);
  return 0;
}
