// `realloc` may move what is mapped.
// with: openmp
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 100;
  int *a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++)
    a[i] = i;
#pragma omp target enter data map(to: a[0:n])
#ifndef WRONG
#pragma omp target exit data map(release: a[0:n])
#endif
  a = realloc(a, 100 * n * sizeof *a); // finds: the host frees what is mapped
  printf("%d\n", a[7]);
  free(a);
  return 0;
}
