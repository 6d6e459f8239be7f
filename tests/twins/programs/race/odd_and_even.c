// Sorting by odd and even neighbours, with a barrier between. Wrong: without.
// with: openmp gcc
#include <stdio.h>
#define N 128
int main(void) {
  int a[N];
  for (int i = 0; i < N; i++)
    a[i] = (i * 75 + 74) % 127;
#pragma omp target map(tofrom : a)
#pragma omp parallel num_threads(64)
  for (int step = 0; step < N; step++) {
#ifdef WRONG
#pragma omp for nowait
#else
#pragma omp for
#endif
    for (int i = step % 2; i < N - 1; i += 2)
      if (a[i] > a[i + 1]) { // finds
        int t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
      }
  }
  int ok = 1;
  for (int i = 1; i < N; i++)
    ok &= a[i - 1] <= a[i];
  printf("%d\n", ok);
  return 0;
}
