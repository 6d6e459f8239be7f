// covers: atomic read, write, update, capture, compare on the device, integers and reals
// flags: -fopenmp-version=51
#include <stdio.h>

int main(void) {
  int n = 0, top = 0, captured[64] = {0}, flag = 0, seen = 0;
  double d = 0;
  long bits = 0;
#pragma omp target parallel for num_threads(4) map(tofrom : n, d, bits, captured, top)
  for (int i = 0; i < 64; i++) {
    int old;
#pragma omp atomic capture
    old = n++;
#pragma omp atomic
    captured[old] += 1;
#pragma omp atomic update
    d += 0.5;
#pragma omp atomic
    bits |= 1L << (i % 40);
#pragma omp atomic compare
    if (top < i) { top = i; }
  }
  int all = 1;
  for (int i = 0; i < 64; i++) all &= captured[i] == 1;
  printf("%d %g %lx %d %d\n", n, d, bits, top, all);
#pragma omp target map(tofrom : flag, seen)
  {
#pragma omp atomic write
    flag = 3;
#pragma omp atomic read
    seen = flag;
#pragma omp atomic capture
    {
      seen += flag;
      flag = seen;
    }
  }
  printf("%d %d\n", flag, seen);
  return 0;
}
