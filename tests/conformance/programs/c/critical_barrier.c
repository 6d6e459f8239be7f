// covers: critical (named and not), barrier, flush, locks, inside a region
#include <omp.h>
#include <stdio.h>

int main(void) {
  enum { T = 4 };
  int total = 0, other = 0, phase[T] = {0}, good = 0, locked = 0, threads = 1;
#pragma omp target map(tofrom : total, other, phase, good, locked, threads)
  {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(T)
    {
      int me = omp_get_thread_num();
#pragma omp single
      threads = omp_get_num_threads();
      for (int i = 0; i < 50; i++) {
#pragma omp critical
        total++;
#pragma omp critical(second)
        other += 2;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
      }
      phase[me] = me + 1;
#pragma omp barrier
      int sum = 0;
      for (int i = 0; i < threads; i++) sum += phase[i];
#pragma omp critical
      good += sum == threads * (threads + 1) / 2;
    }
    omp_destroy_lock(&lock);
  }
  printf("%d %d %d %d\n", total == 50 * threads, other == 100 * threads, locked == 50 * threads,
         good == threads);
  return 0;
}
