// Sums of all before, in rounds of a team: each round begins when all have read, or at once.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

enum { N = 128 };

int main(void)
{
  int a[N];
  for (int i = 0; i < N; ++i)
    a[i] = 1;
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(N)
  {
    int threads = omp_get_num_threads();
    for (int step = 1; step < N; step *= 2) {
      int sums[N], count = 0;
      for (int i = omp_get_thread_num(); i < N; i += threads)
        sums[count++] = a[i] + (i >= step ? a[i - step] : 0); // finds
#ifndef WRONG
#pragma omp barrier
#endif
      count = 0;
      for (int i = omp_get_thread_num(); i < N; i += threads)
        a[i] = sums[count++]; // finds
#pragma omp barrier
    }
  }
  printf("%d\n", a[N - 1]);
  return 0;
}
