// Threads that take one lock over and over, for longer than one would wait: each gives it back, or the last one keeps it.
// with: openmp
// options: -O2 -g
#include <omp.h>
#include <stdio.h>

enum { TURNS = 20000 };

int main(void)
{
  omp_lock_t lock;
  long counted = 0;
#pragma omp target map(alloc: lock) map(tofrom: counted)
  {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(64)
    for (int turn = 0; turn < TURNS; ++turn) {
      omp_set_lock(&lock); // finds
      counted += turn % 3;
#ifdef WRONG
      if (turn < TURNS - 1)
#endif
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
  }
  printf("%ld\n", counted);
  return 0;
}
