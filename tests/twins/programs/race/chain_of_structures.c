// A structure with two arrays, computed in steps of `nowait` regions: each depends on the one before. Wrong: one does not.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>
typedef struct {
  int n;
  double *restrict a;
  double *restrict b;
} pair;
int main(void) {
  pair p = {1000, malloc(1000 * sizeof(double)), malloc(1000 * sizeof(double))};
  for (int i = 0; i < p.n; i++)
    p.a[i] = i, p.b[i] = 0;
  double *a = p.a, *b = p.b;
  int n = p.n;
#pragma omp target enter data map(to : a[0 : n], b[0 : n])
  {
#pragma omp target teams distribute parallel for nowait depend(out : a[0 : n])
    for (int i = 0; i < n; i++)
      a[i] = 2 * a[i];
#ifdef WRONG
#pragma omp target teams distribute parallel for nowait depend(out : b[0 : n])
#else
#pragma omp target teams distribute parallel for nowait depend(in : a[0 : n]) depend(out : b[0 : n])
#endif
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i + 1]; // finds
#pragma omp target update from(b[0 : n]) nowait depend(in : b[0 : n])
#pragma omp taskwait
  }
#pragma omp target exit data map(delete : a[0 : n], b[0 : n])
  printf("%g\n", b[10]);
  free(p.a);
  free(p.b);
  return 0;
}
