// Barriers of teams of any size: what threads write before one, all read behind it.
#include "check.h"

enum { ROUNDS = 20 };

int main(void) {
  static const int sizes[] = {2, 3, 31, 32, 33, 50, 64, 100, 128};
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    int n = sizes[k], wrong = 0, values[128] = {0};
#pragma omp target map(tofrom : wrong, values) thread_limit(128)
#pragma omp parallel num_threads(n)
    for (int round = 0; round < ROUNDS; ++round) {
      int me = omp_get_thread_num();
      values[me] = round * 1000 + me;
#pragma omp barrier
      int other = (me + round + 1) % n;
      if (values[other] != round * 1000 + other) {
#pragma omp atomic
        wrong++;
      }
#pragma omp barrier
    }
    CHECK(wrong, 0);
  }
  // The same in SPMD mode, where a part of the block runs the region.
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    int n = sizes[k], wrong = 0, values[128] = {0}, threads = 0;
#pragma omp target parallel num_threads(n) map(tofrom : wrong, values, threads)
    {
      int me = omp_get_thread_num();
      if (me == 0)
        threads = omp_get_num_threads();
      for (int round = 0; round < ROUNDS; ++round) {
        values[me] = round * 1000 + me;
#pragma omp barrier
        int other = (me + round + 1) % n;
        if (values[other] != round * 1000 + other) {
#pragma omp atomic
          wrong++;
        }
#pragma omp barrier
      }
    }
    CHECK(wrong, 0);
    CHECK(threads, n);
  }
  return finish();
}
