// A team turns a tile around in memory of its own. Wrong: it does not wait between writing and reading.
// with: openmp gcc
#include <stdio.h>
#define N 64
#define T 16
int main(void) {
  static float a[N][N], b[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i * N + j;
#pragma omp target teams distribute collapse(2) map(to : a) map(from : b) thread_limit(64)
  for (int bi = 0; bi < N; bi += T)
    for (int bj = 0; bj < N; bj += T) {
      float tile[T][T];
#pragma omp parallel shared(tile)
      {
#ifdef WRONG
#pragma omp for collapse(2) nowait
#else
#pragma omp for collapse(2)
#endif
        for (int i = 0; i < T; i++)
          for (int j = 0; j < T; j++)
            tile[j][i] = a[bi + i][bj + j]; // finds
#pragma omp for collapse(2)
        for (int i = 0; i < T; i++)
          for (int j = 0; j < T; j++)
            b[bj + i][bi + j] = tile[i][j];
      }
    }
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      wrong += b[j][i] != a[i][j];
  printf("%d\n", wrong);
  return 0;
}
