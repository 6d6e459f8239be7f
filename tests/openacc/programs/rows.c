/* Arrays of several dimensions whose lengths are known when the program runs. */
#include <stdio.h>

static void as_parameter(int n, int m, double a[n][m]) {
#pragma acc parallel loop copy(a[0:n][0:m])
  for (int i = 0; i < n; i++)
#pragma acc loop vector
    for (int j = 0; j < m; j++) a[i][j] += i * j;
}

static double of_row(const double *row, int m) {
  double sum = 0;
  for (int j = 0; j < m; j++) sum += row[j];
  return sum;
}
#pragma acc routine(of_row) seq

static int three(int l, int n, int m) {
  int a[l][n][m], index[m];
  for (int i = 0; i < l * n * m; i++) (&a[0][0][0])[i] = i;
  for (int i = 0; i < m; i++) index[i] = m - 1 - i;
#pragma acc parallel loop collapse(3) copy(a) copyin(index)
  for (int i = 0; i < l; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++) a[i][j][index[k]] = 2 * a[i] [j] [index[index[index[k]]]];
  for (int i = 0; i < l * n * m; i++)
    if ((&a[0][0][0])[i] != 2 * i) return 0;
  return 1;
}

int main(void) {
  int n = 5, m = 7;
  double a[n][m];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 1;
  as_parameter(n, m, a);
  // Without a clause.
#pragma acc parallel loop gang
  for (int i = 0; i < n; i++)
#pragma acc loop worker
    for (int j = 0; j < m; j++) a[i][j] += i * j;
  double(*p)[m] = a;
  double sums[n];
#pragma acc data copy(p[0:n])
  {
#pragma acc parallel loop copyout(sums)
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < m; j++) p[i][j] += i * j;
      sums[i] = of_row(p[i], m);
    }
  }
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++) {
      if (a[i][j] != 1 + 3 * i * j) return printf("%d %d: %g\n", i, j, a[i][j]);
      sum += a[i][j];
    }
    if (sums[i] != sum) return printf("%d: %g\n", i, sums[i]);
  }
  if (!three(2, 3, 4)) return puts("three");
  puts("ok");
}
