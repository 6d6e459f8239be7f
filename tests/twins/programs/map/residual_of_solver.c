// Conjugate gradients with rows of a sparse matrix: the direction is made by the host. Wrong: it is not sent.
// with: openmp gcc
#include <stdio.h>
#define N 120
static void product(const int *begin, const int *column, const double *value, const double *p, double *q) {
#pragma omp target teams distribute parallel for map(to : begin[0 : N + 1], column[0 : 3 * N], value[0 : 3 * N], p[0 : N]) map(from : q[0 : N])
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      sum += value[k] * p[column[k]]; // finds: p
    q[i] = sum;
  }
}
int main(void) {
  static int begin[N + 1], column[3 * N];
  static double value[3 * N], x[N], r[N], p[N], q[N];
  int k = 0;
  for (int i = 0; i < N; i++) {
    begin[i] = k;
    for (int j = i - 1; j <= i + 1; j++)
      if (j >= 0 && j < N)
        column[k] = j, value[k++] = i == j ? 2 : -1;
  }
  begin[N] = k;
  double rr = 0;
  for (int i = 0; i < N; i++)
    p[i] = r[i] = 1 + i % 3, rr += r[i] * r[i];
#pragma omp target data map(to : begin, column, value, p)
  for (int step = 0; step < 5; step++) {
    product(begin, column, value, p, q);
    double pq = 0, next = 0;
    for (int i = 0; i < N; i++)
      pq += p[i] * q[i];
    for (int i = 0; i < N; i++) {
      x[i] += rr / pq * p[i];
      r[i] -= rr / pq * q[i];
      next += r[i] * r[i];
    }
    for (int i = 0; i < N; i++)
      p[i] = r[i] + next / rr * p[i];
#ifndef WRONG
#pragma omp target update to(p)
#endif
    rr = next;
  }
  printf("%g\n", rr);
  return 0;
}
