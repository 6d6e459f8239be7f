// Two queues with halves of the work, and one that needs both: it waits for both, or for one.
// with: openacc gcc-openacc
#include <stdio.h>

enum { N = 4000 };

int main(void)
{
  static float a[N], b[N], c[N];
  for (int i = 0; i < N; ++i)
    a[i] = b[i] = i;
#pragma acc data copy(a, b) copyout(c)
  {
#pragma acc parallel loop async(1)
    for (int i = 0; i < N; ++i)
      a[i] += 1;
#pragma acc parallel loop async(2)
    for (int i = 0; i < N; ++i)
      b[i] += 2; // finds
#ifdef WRONG
#pragma acc parallel loop async(3) wait(1)
#else
#pragma acc parallel loop async(3) wait(1, 2)
#endif
    for (int i = 0; i < N; ++i)
      c[i] = a[i] * b[i];
#pragma acc wait
  }
  printf("%g\n", c[10]);
  return 0;
}
