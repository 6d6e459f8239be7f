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
  return finish();
}
