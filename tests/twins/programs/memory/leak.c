// What stays mapped until the end of the program.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 100;
  int *a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++)
    a[i] = i;
#pragma omp target enter data map(to: a[0:n]) // finds: nothing has unmapped
#pragma omp target map(alloc: a[0:n])
  for (int i = 0; i < n; i++)
    a[i] += i;
#ifdef WRONG
#pragma omp target update from(a[0:n])
#else
#pragma omp target exit data map(from: a[0:n])
#endif
  printf("%d\n", a[5]);
  free(a);
  return 0;
}
