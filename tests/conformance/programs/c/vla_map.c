// covers: variable length arrays of one and two dimensions, mapped whole and in parts, as parameters
#include <stdio.h>

static long work(int n, int m, int a[n][m], int from, int count) {
  long sum = 0;
#pragma omp target map(tofrom : a[from : count][0 : m]) map(tofrom : sum)
  for (int i = from; i < from + count; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] *= 2;
      sum += a[i][j];
    }
  return sum;
}

int main(int argc, char **argv) {
  (void)argv;
  int n = 6 + argc - argc, m = 5;
  int a[n][m];
  double line[m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 10 * i + j;
  for (int j = 0; j < m; j++) line[j] = j;
  printf("%ld\n", work(n, m, a, 2, 3));
  printf("%d %d %d\n", a[1][4], a[2][0], a[4][4]);
#pragma omp target map(tofrom : a, line)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] += 1;
      line[j] += a[i][j];
    }
  for (int j = 0; j < m; j++) printf("%g ", line[j]);
  printf("\n");
#pragma omp target
  a[n - 1][m - 1] = -1;
  printf("%d\n", a[n - 1][m - 1]);
  return 0;
}
