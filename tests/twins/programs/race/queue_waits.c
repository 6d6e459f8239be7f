// A queue that waits for another one before it goes on with the same array.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  static int a[N];
#pragma acc enter data copyin(a)
#pragma acc parallel loop present(a) async(1)
  for (int i = 0; i < N; ++i)
    a[i] = i; // finds: two kernels
#ifdef WRONG
#pragma acc parallel loop present(a) async(2)
#else
#pragma acc parallel loop present(a) async(2) wait(1)
#endif
  for (int i = 0; i < N; ++i)
    a[i] += 1;
#pragma acc wait
#pragma acc exit data copyout(a)
  printf("%d\n", a[7]);
  return 0;
}
