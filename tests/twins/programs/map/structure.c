// A structure with an array on the device: the array comes back, or stays there.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

struct grid {
  int n;
  double *cells;
};

int main(void)
{
  struct grid g = {8192, malloc(8192 * sizeof(double))};
  double sum = 0;
  for (int i = 0; i < g.n; ++i)
    g.cells[i] = 1;
#pragma omp target enter data map(to : g, g.cells[0:g.n])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < g.n; ++i)
    g.cells[i] += i;
#ifndef WRONG
#pragma omp target update from(g.cells[0:g.n])
#endif
  for (int i = 0; i < g.n; ++i)
    sum += g.cells[i]; // finds: the host reads
#pragma omp target exit data map(release : g.cells[0:g.n], g)
  printf("%g\n", sum);
  free(g.cells);
  return 0;
}
