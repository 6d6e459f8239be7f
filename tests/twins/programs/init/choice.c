// A value that a switch asks for.
// with: openmp gcc
// options: -O0 -g
#include <stdio.h>

enum kind { NONE, ONE, TWO };

int main(void)
{
  enum kind kinds[64];
  int sums[3] = {0};
#pragma omp target map(alloc: kinds) map(tofrom: sums)
  {
    for (int i = 0; i < 64; ++i)
#ifdef WRONG
      if (i != 40)
#endif
        kinds[i] = (enum kind)(i % 3);
    for (int i = 0; i < 64; ++i)
      switch (kinds[i]) { // finds
      case NONE: ++sums[0]; break;
      case ONE: ++sums[1]; break;
      default: ++sums[2];
      }
  }
  printf("%d\n", sums[1]);
  return 0;
}
