// Two updates that belong together: each is atomic, both are not.
// with: openmp gcc
#include <stdio.h>

struct best { double value; int index; };

int main(void)
{
  enum { N = 300 };
  double a[N];
  struct best best = {-1, -1};
  for (int i = 0; i < N; ++i)
    a[i] = i * 37 % 101;
#pragma omp target teams distribute parallel for map(to: a) map(tofrom: best)
  for (int i = 0; i < N; ++i) {
#ifndef WRONG
#pragma omp critical
#endif
    if (a[i] > best.value) {
      best.value = a[i]; // finds
      best.index = i;
    }
  }
  printf("%g\n", best.value);
  return 0;
}
