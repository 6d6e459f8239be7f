// The host reads what a queue brings back, before the queue has been waited for or behind that.
// with: openacc
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 4000 };
  static int a[N];
  int sum = 0;
#pragma acc parallel loop copyout(a) async(1) // finds: the host and a copy
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifndef WRONG
#pragma acc wait(1)
#endif
  for (int i = 0; i < N; ++i)
    sum += a[i]; // finds: the host and a copy
#pragma acc wait
  printf("%d\n", sum != 0);
  return 0;
}
