// A lock that one region makes and uses, where memory of the team is not zero before.
#include "check.h"

int main(void) {
  int dirt = 0, count = 0;
#pragma omp target teams num_teams(8) thread_limit(32) map(tofrom : dirt) reduction(+ : dirt)
  {
    int filled[2048];
#pragma omp parallel for
    for (int i = 0; i < 2048; ++i)
      filled[i] = -1;
#pragma omp parallel for reduction(+ : dirt)
    for (int i = 0; i < 2048; ++i)
      dirt -= filled[i];
  }
  CHECK(dirt, 8 * 2048);

  // The array lies behind the lock, which so is where the other region's array was.
#pragma omp target map(tofrom : count)
  {
    omp_lock_t lock;
    int turns[1024];
    omp_init_lock(&lock);
#pragma omp parallel num_threads(64)
    {
      omp_set_lock(&lock);
      turns[count++] = omp_get_thread_num();
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    for (int i = 0; i < 64; ++i)
      count += turns[i];
  }
  CHECK(count, 64 + 63 * 32);
  return finish();
}
