// A region inside of another is serialised, and queries tell so at each level.
#include "check.h"

enum { THREADS = 8 };

int main(void) {
  int inner[THREADS], level[THREADS], ancestor[THREADS], size[THREADS], number[THREADS], back[THREADS];
#pragma omp target map(from : inner, level, ancestor, size, number, back)
#pragma omp parallel num_threads(THREADS)
  {
    int me = omp_get_thread_num(), runs = 0;
#pragma omp parallel num_threads(4)
    {
      runs++;
      inner[me] = omp_get_num_threads();
      level[me] = omp_get_level() * 10 + omp_get_active_level();
      ancestor[me] = omp_get_ancestor_thread_num(1) * 100 + omp_get_ancestor_thread_num(0) * 10 +
                     omp_get_ancestor_thread_num(3);
      size[me] = omp_get_team_size(1) * 10 + omp_get_team_size(2);
      number[me] = omp_get_thread_num();
    }
    back[me] = omp_get_thread_num() * 10 + omp_get_level() + 100 * runs;
  }
  for (int i = 0; i < THREADS; ++i) {
    CHECK(inner[i], 1);
    CHECK(level[i], 21);
    CHECK(ancestor[i], i * 100 - 1);
    CHECK(size[i], THREADS * 10 + 1);
    CHECK(number[i], 0);
    CHECK(back[i], i * 10 + 1 + 100);
  }
  return finish();
}
