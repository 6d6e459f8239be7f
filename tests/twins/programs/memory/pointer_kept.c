// A device pointer that is used behind the data region that it comes from.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  enum { N = 128 };
  int a[N], *kept = 0;
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef _OPENACC
#pragma acc data copy(a)
#else
#pragma omp target data map(tofrom: a)
#endif
  {
#ifdef _OPENACC
#pragma acc host_data use_device(a)
#else
#pragma omp target data use_device_addr(a)
#endif
    kept = a;
#ifndef WRONG
#ifdef _OPENACC
#pragma acc parallel loop deviceptr(kept)
#else
#pragma omp target is_device_ptr(kept)
#endif
    for (int i = 0; i < N; ++i)
      kept[i] += 1;
#endif
  }
#ifdef WRONG
#ifdef _OPENACC
#pragma acc parallel loop deviceptr(kept)
#else
#pragma omp target is_device_ptr(kept)
#endif
  for (int i = 0; i < N; ++i)
    kept[i] += 1; // finds
#endif
  printf("%d\n", a[3]);
  return 0;
}
