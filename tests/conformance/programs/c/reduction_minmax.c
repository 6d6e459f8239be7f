// covers: min and max reductions of integers and reals, with a start value that wins
#include <float.h>
#include <limits.h>
#include <stdio.h>

int main(void) {
  enum { N = 1000 };
  static int v[N];
  static double w[N];
  for (int i = 0; i < N; i++) {
    v[i] = (i * 7919 + 13) % 10007 - 5000;
    w[i] = v[i] / 8.0;
  }
  int low = INT_MAX, high = INT_MIN, start = -100000;
  unsigned char small = 255;
  double dlow = DBL_MAX, dhigh = -DBL_MAX;
  float fhigh = 1e6f;
#pragma omp target teams distribute parallel for map(to : v, w) reduction(min : low, dlow, start, small) \
    reduction(max : high, dhigh, fhigh)
  for (int i = 0; i < N; i++) {
    if (v[i] < low) low = v[i];
    if (v[i] > high) high = v[i];
    if (v[i] < start) start = v[i];
    if (w[i] < dlow) dlow = w[i];
    if (w[i] > dhigh) dhigh = w[i];
    if ((float)w[i] > fhigh) fhigh = (float)w[i];
    if (i % 250 + 3 < small) small = i % 250 + 3;
  }
  printf("%d %d %d %d %g %g %g\n", low, high, start, small, dlow, dhigh, fhigh);
  return 0;
}
