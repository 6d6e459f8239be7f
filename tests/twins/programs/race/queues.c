// Two queues that use one array at the same time, or one after the other.
// with: openacc
#include <stdio.h>

int main(void)
{
  enum { N = 20000 };
  static int a[N], b[N];
#pragma acc enter data copyin(a, b)
#pragma acc parallel loop present(a) async(1)
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < 50; ++k)
      a[i] += k;
#ifndef WRONG
#pragma acc wait(1) async(2)
#endif
#ifdef WRONG
#pragma acc parallel loop present(a, b) async(2)
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < 50; ++k)
      a[i] += k;
#else
#pragma acc parallel loop present(a, b) async(2)
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < 50; ++k)
      b[i] += a[i];
#endif
#pragma acc wait
#pragma acc exit data copyout(a, b)
  printf("%d\n", a[1]);
  return 0;
}
