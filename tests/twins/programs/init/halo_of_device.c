// A padded array on the device, of which only the inside is sent; the stencil decides by its halo.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  enum { N = 66 };
  int a[N], out[N] = {0};
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target enter data map(alloc: a)
#pragma omp target update to(a[1:N - 2])
#else
#pragma omp target enter data map(to: a)
#endif
#pragma omp target teams distribute parallel for map(alloc: a) map(tofrom: out)
  for (int i = 1; i < N - 1; ++i)
    if (a[i - 1] + a[i + 1] > 40) // finds
      out[i] = 1;
#pragma omp target exit data map(release: a)
  printf("%d\n", out[33]);
  return 0;
}
