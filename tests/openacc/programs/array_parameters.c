// as without OpenACC
// Parameters that are declared as arrays: clauses that name them mean the arrays.
#include <stdio.h>

enum { N = 12, M = 9 };

static void scale(double a[N][M], const double factors[static N], int n, int m, double rows[n][m]) {
#pragma acc data copyin(factors) copy(a, rows)
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) a[i][j] *= factors[i];
#pragma acc update self(a)
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) rows[i][j] += a[i % N][j % M];
  }
}

static void begin(int list[N], int others[const N]) {
#pragma acc enter data create(list) copyin(others)
#pragma acc parallel loop present(list, others)
  for (int i = 0; i < N; i++) list[i] = others[i] + i;
#pragma acc exit data copyout(list) delete(others)
}

static int sum(int list[], int n) {
  int all = 0;
#pragma acc parallel loop reduction(+ : all) copyin(list[0 : n])
  for (int i = 0; i < n; i++) all += list[i];
  return all;
}

int main(void) {
  double a[N][M], factors[N], rows[5][7];
  int list[N], others[N];
  for (int i = 0; i < N; i++) {
    factors[i] = i + 0.5;
    list[i] = -1;
    others[i] = i * i;
    for (int j = 0; j < M; j++) a[i][j] = i - j;
  }
  for (int i = 0; i < 35; i++) rows[i / 7][i % 7] = i;
  scale(a, factors, 5, 7, rows);
  begin(list, others);
  for (int i = 0; i < N; i++) printf("%g %d ", a[i][i % M], list[i]);
  printf("%g %g %d\n", rows[4][6], rows[2][3], sum(list, N));
  return 0;
}
