// An array that a gang's lanes fill together: of each gang, or of all.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  int out[64][32], row[32];
#ifdef WRONG
#pragma acc parallel loop gang copyout(out) copy(row)
#else
#pragma acc parallel loop gang copyout(out) private(row)
#endif
  for (int i = 0; i < 64; ++i) {
#pragma acc loop vector
    for (int j = 0; j < 32; ++j)
      row[j] = i + j; // finds
#pragma acc loop vector
    for (int j = 0; j < 32; ++j)
      out[i][j] = row[31 - j];
  }
  printf("%d\n", out[3][4]);
  return 0;
}
