// Two buffers and a pipeline: the host fills the one while the region of the other is working. It waits for the region that used
// it two steps ago, or forgets to.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

enum { N = 512, STEPS = 6 };
static int buffer[2][N], out[2][N];

int main(void)
{
  for (int step = 0; step < STEPS; ++step) {
    int *b = buffer[step % 2], *o = out[step % 2];
#ifndef WRONG
#pragma omp taskwait depend(inout: o[0])
#endif
    for (int i = 0; i < N; ++i)
      b[i] = i + step; // finds: the host and a copy
#pragma omp target teams distribute parallel for nowait depend(inout: o[0]) map(to: b[0:N]) map(from: o[0:N])
    for (int i = 0; i < N; ++i)
      o[i] = 2 * b[i];
  }
#pragma omp taskwait
  printf("%d\n", out[1][3] > 0);
  return 0;
}
