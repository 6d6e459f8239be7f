// Two queues that update one array of the host: one behind the other, or both at the same time.
// with: openacc
#include <stdio.h>

int main(void)
{
  enum { N = 4000 };
  static int a[N];
#pragma acc enter data create(a)
#pragma acc parallel loop present(a)
  for (int i = 0; i < N; ++i)
    a[i] = i;
#pragma acc update self(a) async(1) // finds: two copies
#ifdef WRONG
#pragma acc update device(a) async(2)
#else
#pragma acc update device(a) async(2) wait(1)
#endif
#pragma acc wait
#pragma acc exit data delete(a)
  printf("%d\n", a[7]);
  return 0;
}
