// Parallel regions of generic kernels: the number of threads that are asked for, and `if`.
#include "check.h"

int main(void) {
  static const int asked[] = {1, 2, 5, 31, 32, 33, 37, 64, 96};
  for (unsigned k = 0; k < sizeof asked / sizeof *asked; ++k) {
    int n = asked[k], seen[128] = {0}, size = 0, before = 0, after = 0;
#pragma omp target map(tofrom : seen, size, before, after) thread_limit(128)
    {
      before = omp_get_num_threads() * 10 + omp_get_level();
#pragma omp parallel num_threads(n)
      {
        seen[omp_get_thread_num()]++;
        if (omp_get_thread_num() == 0)
          size = omp_get_num_threads();
      }
      after = omp_get_num_threads() * 10 + omp_get_level();
    }
    CHECK(size, n);
    CHECK(before, 10);
    CHECK(after, 10);
    for (int i = 0; i < 128; ++i)
      CHECK(seen[i], i < n);
  }

  for (int condition = 0; condition < 2; ++condition) {
    int threads = 0, active = -1, level = -1;
#pragma omp target map(tofrom : threads, active, level)
    {
      int count = 0;
#pragma omp parallel if (condition) num_threads(4)
      {
#pragma omp atomic
        count++;
        if (omp_get_thread_num() == 0) {
          active = omp_in_parallel();
          level = omp_get_level();
        }
      }
      threads = count;
    }
    CHECK(threads, condition ? 4 : 1);
    CHECK(active, condition);
    CHECK(level, 1);
  }

  // No region has more threads than the limit, which need not be whole warps.
  const int limits[] = {1, 5, 24, 32, 33, 47, 64, 100};
  for (int k = 0; k < (int)(sizeof limits / sizeof *limits); ++k) {
    int limit = limits[k], asked = 0, threads = 0, ids = 0, workshare = 0;
#pragma omp target teams num_teams(2) thread_limit(limit) map(tofrom : asked, threads, ids, workshare)
    {
      int count = 0, sum = 0, iterations = 0;
#pragma omp parallel num_threads(1000) reduction(+ : count, sum)
      {
        count++;
        sum += omp_get_thread_num();
      }
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : iterations)
      for (int i = 0; i < 300; ++i)
        iterations++;
      if (omp_get_team_num() == 0) {
        asked = omp_get_thread_limit();
        threads = count;
        ids = sum;
        workshare = iterations;
      }
    }
    CHECK(asked, limit);
    CHECK(threads, limit);
    CHECK(ids, limit * (limit - 1) / 2);
    CHECK(workshare, 300);
  }
  return finish();
}
