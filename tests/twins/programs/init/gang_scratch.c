// A gang's array, of which one element is not set.
// with: openacc
#include <stdio.h>

int main(void)
{
  int out[64], row[32];
#pragma acc parallel loop gang copyout(out) private(row)
  for (int i = 0; i < 64; ++i) {
    int many = 0;
#pragma acc loop seq
#ifdef WRONG
    for (int j = 1; j < 32; ++j)
#else
    for (int j = 0; j < 32; ++j)
#endif
      row[j] = i + j;
#pragma acc loop seq
    for (int j = 0; j < 32; ++j)
      if (row[(i + j) % 32] > 7) // finds
        ++many;
    out[i] = many;
  }
  printf("%d\n", out[3]);
  return 0;
}
