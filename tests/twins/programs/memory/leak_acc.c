// Data of an `enter data` of OpenACC.
// with: openacc gcc-openacc
#include <stdio.h>

static double a[1000];

int main(void)
{
#pragma acc enter data copyin(a) // finds: nothing has unmapped
#pragma acc parallel loop present(a)
  for (int i = 0; i < 1000; i++)
    a[i] += i;
#ifdef WRONG
#pragma acc update self(a)
#else
#pragma acc exit data copyout(a)
#endif
  printf("%g\n", a[5]);
  return 0;
}
