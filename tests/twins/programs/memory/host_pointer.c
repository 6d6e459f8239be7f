// A pointer inside of a structure: what it points to is mapped or not.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

struct row { int n; int *data; };

int main(void)
{
  struct row row = {64, calloc(64, sizeof(int))};
#ifdef WRONG
#pragma omp target map(tofrom: row)
#else
#pragma omp target map(tofrom: row) map(tofrom: row.data[0:64])
#endif
  for (int i = 0; i < row.n; ++i)
    row.data[i] = i; // finds: write
  printf("%d\n", row.data[5]);
  free(row.data);
  return 0;
}
