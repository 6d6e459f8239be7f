// A smoother that writes where its neighbours read: all points at once, or first the red ones, then the black ones.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

#define N 64
static double u[N][N];

static void sweep(int colour, int step)
{
#ifdef _OPENACC
#pragma acc parallel loop collapse(2) present(u)
#else
#pragma omp target teams distribute parallel for collapse(2) map(alloc: u)
#endif
  for (int i = 1; i < N - 1; ++i)
    for (int j = 1; j < N - 1; ++j)
      if ((i + j) % step == colour)
        u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]); // finds
}

int main(void)
{
  for (int i = 0; i < N; ++i)
    u[i][0] = 1;
#ifdef _OPENACC
#pragma acc enter data copyin(u)
#else
#pragma omp target enter data map(to: u)
#endif
#ifdef WRONG
  sweep(0, 1);
#else
  sweep(0, 2);
  sweep(1, 2);
#endif
#ifdef _OPENACC
#pragma acc exit data copyout(u)
#else
#pragma omp target exit data map(from: u)
#endif
  printf("%g\n", u[1][1]);
  return 0;
}
