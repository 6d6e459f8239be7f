// covers: a small application: blocked matrix product, transpose, sparse matrix times vector
#include <stdio.h>

enum { N = 40 };

int main(void) {
  static int a[N][N], b[N][N], c[N][N], t[N][N];
  static int rows[N + 1], cols[N * 3], vals[N * 3];
  static long x[N], y[N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = i + j;
      b[i][j] = i == j ? 2 : i > j;
    }
#pragma omp target data map(to : a, b) map(from : c, t)
  {
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int sum = 0;
        for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
        c[i][j] = sum;
      }
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) t[j][i] = c[i][j];
  }
  long check = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) check += (long)t[i][j] * (i + 2 * j + 1);
  printf("%ld\n", check);
  int n = 0;
  for (int i = 0; i < N; i++) {
    rows[i] = n;
    for (int j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < N) {
        cols[n] = j;
        vals[n++] = i == j ? 4 : -1;
      }
    x[i] = i * i;
  }
  rows[N] = n;
#pragma omp target teams distribute parallel for map(to : rows, cols[0 : n], vals[0 : n], x) map(from : y)
  for (int i = 0; i < N; i++) {
    long sum = 0;
    for (int k = rows[i]; k < rows[i + 1]; k++) sum += vals[k] * x[cols[k]];
    y[i] = sum;
  }
  printf("%ld %ld %ld\n", y[0], y[20], y[N - 1]);
  return 0;
}
