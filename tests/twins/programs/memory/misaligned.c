// A number of eight bytes at an address that is no multiple of eight.
// with: openmp gcc
#include <stdio.h>
#include <string.h>

int main(void)
{
  char bytes[64] = {0};
  double sum = 0;
#pragma omp target map(to: bytes) map(tofrom: sum)
  {
#ifdef WRONG
    sum += *(volatile double *)(bytes + 4); // finds
#else
    double value;
    memcpy(&value, bytes + 4, sizeof value);
    sum += value;
#endif
  }
  printf("%g\n", sum);
  return 0;
}
