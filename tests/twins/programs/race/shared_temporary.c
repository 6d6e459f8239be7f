// A temporary of the loop that is declared outside of it.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  enum { N = 500 };
  double a[N], b[N], t = 0;
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target teams distribute parallel for map(to: a) map(from: b) map(tofrom: t)
#else
#pragma omp target teams distribute parallel for map(to: a) map(from: b) private(t)
#endif
  for (int i = 0; i < N; ++i) {
    t = a[i] * a[i]; // finds
    b[i] = t + 1 / (t + 1);
  }
  printf("%g\n", b[7]);
  return 0;
}
