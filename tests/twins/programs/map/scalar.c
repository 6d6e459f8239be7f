// The number of elements changes on the host: it is mapped for all regions, or given to each.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int n = 10, a[100], sum = 0;
  for (int i = 0; i < 100; ++i)
    a[i] = i;
#ifdef WRONG
#pragma omp target data map(to : n, a)
#else
#pragma omp target data map(to : a)
#endif
  for (int step = 0; step < 3; ++step) {
    n += 10;
#ifdef WRONG
#pragma omp target map(n) map(tofrom : sum)
#else
#pragma omp target firstprivate(n) map(tofrom : sum)
#endif
    for (int i = 0; i < n; ++i) // finds: a kernel reads
      sum += a[i];
  }
  printf("%d\n", sum);
  return 0;
}
