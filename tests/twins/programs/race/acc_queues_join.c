// Two queues that a third waits for. Wrong: for one of them.
// with: openacc gcc-openacc
#include <stdio.h>
#define N 2000
int main(void) {
  static float a[N], b[N], c[N];
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = 2 * i;
#pragma acc data copy(a, b) copyout(c)
  {
#pragma acc parallel loop async(1) present(a)
    for (int i = 0; i < N; i++)
      a[i] += 1;
#pragma acc parallel loop async(2) present(b)
    for (int i = 0; i < N; i++)
      b[i] += 1;
#ifdef WRONG
#pragma acc parallel loop async(3) wait(1) present(a, b, c)
#else
#pragma acc parallel loop async(3) wait(1, 2) present(a, b, c)
#endif
    for (int i = 0; i < N; i++)
      c[i] = a[i] + b[i]; // finds
#pragma acc wait
  }
  printf("%g\n", c[5]);
  return 0;
}
