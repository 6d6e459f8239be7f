// Bins of two words, each with a lock. Wrong: one word is changed behind the lock.
// with: openmp
#include <omp.h>
#include <stdio.h>
#define N 256
#define BINS 4
int main(void) {
  int values[N], count[BINS] = {0};
  long sum[BINS] = {0};
  for (int i = 0; i < N; i++)
    values[i] = i * 31 % 97;
#pragma omp target map(to : values) map(tofrom : count, sum)
  {
    omp_lock_t locks[BINS];
    for (int i = 0; i < BINS; i++)
      omp_init_lock(&locks[i]);
#pragma omp parallel for shared(locks) num_threads(64)
    for (int i = 0; i < N; i++) {
      int bin = values[i] % BINS;
      omp_set_lock(&locks[bin]);
      count[bin]++;
#ifdef WRONG
      omp_unset_lock(&locks[bin]);
      sum[bin] += values[i]; // finds: sum
#else
      sum[bin] += values[i];
      omp_unset_lock(&locks[bin]);
#endif
    }
    for (int i = 0; i < BINS; i++)
      omp_destroy_lock(&locks[i]);
  }
  printf("%d %ld\n", count[0], sum[0]);
  return 0;
}
