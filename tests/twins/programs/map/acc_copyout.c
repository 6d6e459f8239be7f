// The host's values go to the device before it changes others, or are lost in the copy back.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int a[500];
  for (int i = 0; i < 500; ++i)
    a[i] = 0;
#pragma acc enter data copyin(a)
  for (int i = 0; i < 10; ++i)
    a[i] = 5;
#ifndef WRONG
#pragma acc update device(a[0:10])
#endif
#pragma acc parallel loop present(a)
  for (int i = 10; i < 500; ++i)
    a[i] = i;
#pragma acc exit data copyout(a) // finds: overwrites
  printf("%d\n", a[0] + a[499]);
  return 0;
}
