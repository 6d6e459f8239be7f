// critical, atomic, single, masked, locks: one at a time, or one at all.
#include "check.h"

int main(void) {
  int count = 0, singles = 0, masters = 0, third = 0, plain = 0, nested = 0, tries = 0;
#pragma omp target map(tofrom : count, singles, masters, third, plain, nested, tries)
  {
    int critical = 0, locked = 0, twice = 0, once = 0, master = 0, filtered = 0, tested = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(50)
    {
      for (int i = 0; i < 3; ++i) {
#pragma omp critical(counter)
        critical++;
      }
#pragma omp single
      once++;
#pragma omp master
      master++;
#pragma omp barrier
#pragma omp masked filter(3)
      filtered = omp_get_thread_num();
      omp_set_lock(&lock);
      locked++;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      twice++;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
      while (!omp_test_lock(&lock))
        ;
      tested++;
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    count = critical, singles = once, masters = master, third = filtered, plain = locked, nested = twice;
    tries = tested;
  }
  CHECK(count, 150);
  CHECK(singles, 1);
  CHECK(masters, 1);
  CHECK(third, 3);
  CHECK(plain, 50);
  CHECK(nested, 50);
  CHECK(tries, 50);

  // Across teams, too.
  int sum = 0;
#pragma omp target teams num_teams(6) thread_limit(32) map(tofrom : sum)
#pragma omp parallel
  {
#pragma omp critical(all)
    sum++;
  }
  CHECK(sum, 6 * 32);
  return finish();
}
