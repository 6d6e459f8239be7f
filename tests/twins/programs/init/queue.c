// An exit of data brings back what a region was to write, and did not.
// with: openacc
#include <stdio.h>

int main(void)
{
  enum { N = 256 };
  static int a[N]; // finds: copied back
#pragma acc enter data create(a) async(1)
#pragma acc parallel loop present(a) async(1)
#ifdef WRONG
  for (int i = 0; i < N - 8; ++i)
#else
  for (int i = 0; i < N; ++i)
#endif
    a[i] = i;
#pragma acc exit data copyout(a) async(1)
#pragma acc wait(1)
  printf("%d\n", a[3]);
  return 0;
}
