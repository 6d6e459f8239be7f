// A queue that waits for another one: `wait(1)` at the construct, or for the wrong queue.
// with: openacc gcc-openacc
#include <stdio.h>

#ifdef WRONG
#define BEFORE 3
#else
#define BEFORE 1
#endif

int main(void)
{
  enum { N = 2000 };
  static int a[N], b[N];
#pragma acc data copy(a, b)
  {
#pragma acc parallel loop async(1)
    for (int i = 0; i < N; ++i)
      a[i] = i; // finds
#pragma acc parallel loop async(2) wait(BEFORE)
    for (int i = 0; i < N; ++i)
      b[i] = a[i] + 1; // finds
#pragma acc wait
  }
  printf("%d\n", b[5] > 0);
  return 0;
}
