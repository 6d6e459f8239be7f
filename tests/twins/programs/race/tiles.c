// A product of matrices in tiles that a team shares: the next tile is fetched when all have used this one, or at once.
// with: openmp
#include <stdio.h>

enum { N = 64, T = 16 };
static float a[N][N], b[N][N], c[N][N];

int main(void)
{
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      a[i][j] = i + j, b[i][j] = i - j;
#pragma omp target teams distribute collapse(2) map(to: a, b) map(from: c) thread_limit(T * T)
  for (int row = 0; row < N; row += T)
    for (int column = 0; column < N; column += T) {
      float left[T][T], right[T][T], sum[T][T];
#pragma omp parallel num_threads(T * T)
      {
#pragma omp for collapse(2)
        for (int i = 0; i < T; ++i)
          for (int j = 0; j < T; ++j)
            sum[i][j] = 0;
        for (int k = 0; k < N; k += T) {
#pragma omp for collapse(2)
          for (int i = 0; i < T; ++i)
            for (int j = 0; j < T; ++j) {
              left[i][j] = a[row + i][k + j]; // finds
              right[i][j] = b[k + i][column + j]; // finds
            }
#ifdef WRONG
#pragma omp for collapse(2) nowait
#else
#pragma omp for collapse(2)
#endif
          for (int i = 0; i < T; ++i)
            for (int j = 0; j < T; ++j)
              for (int l = 0; l < T; ++l)
                sum[i][j] += left[i][l] * right[l][j]; // finds
        }
#pragma omp barrier
#pragma omp for collapse(2)
        for (int i = 0; i < T; ++i)
          for (int j = 0; j < T; ++j)
            c[row + i][column + j] = sum[i][j];
      }
    }
  printf("%g\n", c[3][4]);
  return 0;
}
