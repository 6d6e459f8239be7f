// A complex sum of many threads: with the lock of libgomp that its reduction takes. Wrong: without a reduction.
// with: gcc
// options: -O1 -g -foffload-options=nvptx-none=-latomic
#include <complex.h>
#include <stdio.h>
#define N 1000
int main(void) {
  static double _Complex a[N];
  double _Complex sum = 0;
  for (int i = 0; i < N; i++)
    a[i] = i - 2 * i * I;
#ifdef WRONG
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : sum)
#else
#pragma omp target teams distribute parallel for map(to : a) map(tofrom : sum) reduction(+ : sum)
#endif
  for (int i = 0; i < N; i++)
    sum += a[i]; // finds
  printf("%g %g\n", creal(sum), cimag(sum));
  return 0;
}
