// Sums of clusters, that all threads add to: atomically, or not.
// with: openmp gcc
#include <stdio.h>
#define N 600
#define K 5
typedef struct {
  double x[K], y[K];
  int count[K];
} clusters;
#pragma omp declare target
static int nearest(const double *cx, const double *cy, double x, double y) {
  int best = 0;
  double least = 1e30;
  for (int k = 0; k < K; k++) {
    double d = (cx[k] - x) * (cx[k] - x) + (cy[k] - y) * (cy[k] - y);
    if (d < least) {
      least = d;
      best = k;
    }
  }
  return best;
}
#pragma omp end declare target
int main(void) {
  static double x[N], y[N];
  double cx[K], cy[K];
  clusters sums;
  for (int i = 0; i < N; i++) {
    x[i] = i * 37 % 101;
    y[i] = i * 53 % 97;
  }
  for (int k = 0; k < K; k++)
    cx[k] = 20 * k, cy[k] = 90 - 20 * k;
#pragma omp target data map(to : x, y, cx, cy) map(alloc : sums)
  for (int round = 0; round < 3; round++) {
#pragma omp target teams distribute parallel for
    for (int k = 0; k < K; k++)
      sums.x[k] = sums.y[k] = 0, sums.count[k] = 0;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
      int k = nearest(cx, cy, x[i], y[i]);
#pragma omp atomic
      sums.x[k] += x[i];
#pragma omp atomic
      sums.y[k] += y[i];
#ifndef WRONG
#pragma omp atomic
#endif
      sums.count[k]++; // finds
    }
#pragma omp target update from(sums)
    for (int k = 0; k < K; k++)
      if (sums.count[k] > 0)
        cx[k] = sums.x[k] / sums.count[k], cy[k] = sums.y[k] / sums.count[k];
#pragma omp target update to(cx, cy)
  }
  printf("%g %g\n", cx[0], cy[0]);
  return 0;
}
