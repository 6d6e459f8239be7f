// Stream compaction: a place that is taken without `atomic capture`.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 1000 };
  int a[N], out[N], n = 0;
  for (int i = 0; i < N; ++i)
    a[i] = i * 7 % 13, out[i] = -1;
#pragma acc parallel loop copyin(a) copy(out, n)
  for (int i = 0; i < N; ++i)
    if (a[i] > 6) {
      int place;
#ifndef WRONG
#pragma acc atomic capture
#endif
      place = n++; // finds
      out[place] = a[i];
    }
  printf("%d\n", n);
  return 0;
}
