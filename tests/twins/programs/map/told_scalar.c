// A flag on the stack is fetched before the host looks at it, or not. The program tells its accesses.
// with: openmp openacc
// options: -O1 -g --check=map
#include <stdio.h>

int main(void)
{
  int found = 0, a[100];
  for (int i = 0; i < 100; ++i)
    a[i] = i;
#ifdef _OPENACC
#pragma acc enter data copyin(found)
#pragma acc parallel loop copyin(a) present(found)
#else
#pragma omp target enter data map(to : found)
#pragma omp target teams distribute parallel for map(to : a) map(alloc : found)
#endif
  for (int i = 0; i < 100; ++i)
    if (a[i] == 77)
      found = i;
#ifndef WRONG
#ifdef _OPENACC
#pragma acc update self(found)
#else
#pragma omp target update from(found)
#endif
#endif
  if (found) // finds: the host reads
    printf("%d\n", found);
#ifdef _OPENACC
#pragma acc exit data delete(found)
#else
#pragma omp target exit data map(delete : found)
#endif
  return 0;
}
