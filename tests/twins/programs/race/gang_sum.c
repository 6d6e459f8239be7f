// A sum of gangs and vectors: with the clause at both loops, or at the inner one alone.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 64 };
  static int a[N][N];
  int total = 0;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      a[i][j] = i ^ j;
#ifdef WRONG
#pragma acc parallel loop gang copyin(a) copy(total)
#else
#pragma acc parallel loop gang copyin(a) copy(total) reduction(+: total)
#endif
  for (int i = 0; i < N; ++i) {
    int row = 0;
#pragma acc loop vector reduction(+: row)
    for (int j = 0; j < N; ++j)
      row += a[i][j];
    total += row; // finds
  }
  printf("%d\n", total);
  return 0;
}
