// covers: reductions of arrays and array sections, several at once, user-defined reductions
#include <stdio.h>

struct range {
  int low, high;
};
#pragma omp declare reduction(widen : struct range : omp_out.low = omp_in.low < omp_out.low \
    ? omp_in.low : omp_out.low, omp_out.high = omp_in.high > omp_out.high ? omp_in.high \
    : omp_out.high) initializer(omp_priv = {1 << 30, -(1 << 30)})

int main(void) {
  enum { N = 300 };
  int hist[7] = {0}, v[N];
  double sums[3] = {1, 2, 3};
  long heap[10] = {0};
  long *part = heap + 2;
  for (int i = 0; i < N; i++) v[i] = i * 37 % 211;
#pragma omp target teams distribute parallel for reduction(+ : hist) map(to : v)
  for (int i = 0; i < N; i++) hist[v[i] % 7]++;
  for (int i = 0; i < 7; i++) printf("%d ", hist[i]);
  printf("\n");
#pragma omp target parallel for reduction(+ : sums[0 : 2], part[1 : 3]) map(to : v)
  for (int i = 0; i < N; i++) {
    sums[i % 2] += v[i];
    part[1 + i % 3] += v[i];
  }
  printf("%g %g %g\n", sums[0], sums[1], sums[2]);
  for (int i = 0; i < 10; i++) printf("%ld ", heap[i]);
  printf("\n");
  struct range r = {100, 100};
#pragma omp target teams distribute parallel for reduction(widen : r) map(to : v) map(tofrom : r)
  for (int i = 0; i < N; i++) {
    if (v[i] < r.low) r.low = v[i];
    if (v[i] > r.high) r.high = v[i];
  }
  printf("%d %d\n", r.low, r.high);
  return 0;
}
