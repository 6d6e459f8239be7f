// An array of a thread's own, one element of which is not set.
// with: openmp gcc
// options: -O0 -g
#include <stdio.h>

int main(void)
{
  int many = 0;
#pragma omp target teams distribute parallel for map(tofrom: many) reduction(+: many)
  for (int i = 0; i < 64; ++i) {
    int own[8];
#ifdef WRONG
    for (int j = 1; j < 8; ++j)
#else
    for (int j = 0; j < 8; ++j)
#endif
      own[j] = i + j;
    if (own[i & 7] > 3) // finds
      many += 1;
  }
  printf("%d\n", many);
  return 0;
}
