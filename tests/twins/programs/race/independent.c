// `independent` is a promise, which this loop breaks: each element needs the one before.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 1000 };
  int a[N], b[N];
  for (int i = 0; i < N; ++i)
    a[i] = b[i] = i;
#pragma acc parallel loop independent copy(a) copyin(b)
  for (int i = 1; i < N; ++i)
#ifdef WRONG
    a[i] = a[i - 1] + b[i]; // finds
#else
    a[i] = b[i - 1] + b[i];
#endif
  printf("%d\n", a[5] > 0);
  return 0;
}
