// Each thread comes as often to a barrier as it has data, or all as often as the one with most.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int a[64], lengths[64];
  for (int i = 0; i < 64; ++i)
    a[i] = 0, lengths[i] = 1 + i % 2;
#pragma omp target map(to: lengths) map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
    int t = omp_get_thread_num();
#ifdef WRONG
    int rounds = lengths[t];
#else
    int rounds = 2;
#endif
    a[t] = 0;
    for (int round = 0; round < rounds; ++round) {
      a[t] += round < lengths[t];
#pragma omp barrier // finds
    }
  }
  printf("%d\n", a[5]);
  return 0;
}
