// An update in a queue, another queue that is waited for, and the host that reads.
// with: openacc
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 4000 };
  static int a[N];
  int sum = 0;
#pragma acc enter data copyin(a)
#pragma acc parallel loop present(a) async(1)
  for (int i = 0; i < N; ++i)
    a[i] = i;
#pragma acc update self(a) async(1)
#ifdef WRONG
#pragma acc wait(2)
#else
#pragma acc wait(1)
#endif
  sum += a[9]; // finds: the host and a copy
#pragma acc wait
#pragma acc exit data delete(a)
  printf("%d\n", sum >= 0);
  return 0;
}
