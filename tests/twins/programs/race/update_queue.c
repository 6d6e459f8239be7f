// An update in the queue of the region that fills the array, or in another one.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 4000 };
  static int a[N];
#pragma acc enter data create(a)
#pragma acc parallel loop present(a) async(1)
  for (int i = 0; i < N; ++i)
    a[i] = i; // finds: a kernel and a copy
#ifdef WRONG
#pragma acc update self(a) async(2)
#else
#pragma acc update self(a) async(1)
#endif
#pragma acc wait
#pragma acc exit data delete(a)
  printf("%d\n", a[7] >= 0);
  return 0;
}
