// A loop with a reduction over three teams, and with an argument, a lock that is given back twice: what
// checks and traces of the device runtime say of them.
#include "check.h"

int main(int argc, char **argv) {
  int sum = 0, twice = argc > 1;
#pragma omp target teams distribute parallel for reduction(+ : sum) num_teams(3) thread_limit(64)
  for (int i = 0; i < 5000; ++i)
    sum += i % 10;
  CHECK(sum, 22500);
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
