// The result of a reduction in a queue is read before the queue has been waited for.
// with: openacc
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 3000 };
  static int a[N];
  int sum = 0;
  for (int i = 0; i < N; ++i)
    a[i] = i % 3;
#pragma acc parallel loop copyin(a) reduction(+: sum) copy(sum) async(1) // finds
  for (int i = 0; i < N; ++i)
    sum += a[i];
#ifndef WRONG
#pragma acc wait(1)
#endif
  int read = sum; // finds: the host and a copy
#pragma acc wait
  printf("%d\n", read >= 0);
  return 0;
}
