// Data that is created and not copied in.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int a[128], b[128];
  for (int i = 0; i < 128; ++i)
    a[i] = i;
#ifdef WRONG
#pragma acc data create(a) copyout(b)
#else
#pragma acc data copyin(a) copyout(b)
#endif
  {
#pragma acc parallel loop
    for (int i = 0; i < 128; ++i)
      b[i] = a[i] > 5 ? 1 : a[(a[i] + 1) & 127]; // finds
  }
  printf("%d\n", b[9]);
  return 0;
}
