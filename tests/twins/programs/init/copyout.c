// Of what is copied out, one iteration of two writes something.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  double a[200]; // finds: copied back
  for (int i = 0; i < 200; ++i)
    a[i] = 1;
#ifdef WRONG
#pragma acc parallel loop copyout(a)
#else
#pragma acc parallel loop copy(a)
#endif
  for (int i = 0; i < 100; ++i)
    a[2 * i] = i;
  printf("%g\n", a[3]);
  return 0;
}
