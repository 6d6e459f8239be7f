// Memory of the host is freed while it is mapped.
// with: openmp openacc gcc
#include <stdio.h>
#include <stdlib.h>

#ifdef _OPENACC
#define MAP _Pragma("acc enter data copyin(a[0:n])")
#define UNMAP _Pragma("acc exit data copyout(a[0:n])")
#define REGION _Pragma("acc parallel loop present(a[0:n])")
#else
#define MAP _Pragma("omp target enter data map(to: a[0:n])")
#define UNMAP _Pragma("omp target exit data map(from: a[0:n])")
#define REGION _Pragma("omp target map(alloc: a[0:n])")
#endif

int main(void)
{
  int n = 100;
  int *a = malloc(n * sizeof *a);
  for (int i = 0; i < n; i++)
    a[i] = i;
  MAP
  REGION
  for (int i = 0; i < n; i++)
    a[i] += i;
#ifdef WRONG
  free(a); // finds: the host frees what is mapped
#else
  UNMAP
  printf("%d\n", a[7]);
  free(a);
#endif
  return 0;
}
