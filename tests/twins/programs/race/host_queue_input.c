// The host fills the next part of an array while the queue is being given it, or another part.
// with: openacc
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 4096, PART = N / 4 };
  static double a[N];
#pragma acc enter data create(a)
  for (int part = 0; part < 4; ++part) {
#ifdef WRONG
    int begin = part * PART / 2;
#else
    int begin = part * PART;
#endif
    for (int i = begin; i < begin + PART; ++i)
      a[i] = i; // finds: the host and a copy
#pragma acc update device(a[begin:PART]) async(part) // finds: the host and a copy
  }
#pragma acc wait
#pragma acc exit data delete(a)
  printf("%g\n", a[7]);
  return 0;
}
