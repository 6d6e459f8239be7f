// Loops over three teams, one with a reduction, and with an argument, a lock that is given back twice: what
// checks and traces of the device runtime say of them.
#include "check.h"

int main(int argc, char **argv) {
  int sum = 0, twice = argc > 1;
#pragma omp target teams distribute parallel for reduction(+ : sum) num_teams(3) thread_limit(64)
  for (int i = 0; i < 5000; ++i)
    sum += i % 10;
  CHECK(sum, 22500);
  int seen[5000] = {0};
#pragma omp target teams distribute parallel for map(tofrom : seen) num_teams(3) thread_limit(64)
  for (int i = 0; i < 5000; ++i)
    seen[i] += i;
  for (int i = 0; i < 5000; ++i)
    CHECK(seen[i], i);
  if (twice) {
#pragma omp target
    {
      omp_lock_t lock;
      omp_init_lock(&lock);
      omp_set_lock(&lock);
      omp_unset_lock(&lock);
      omp_unset_lock(&lock);
    }
  }
  (void)argv;
  return finish();
}
