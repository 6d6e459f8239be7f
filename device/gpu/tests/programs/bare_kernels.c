// Kernels that do not start the runtime (`ompx_bare`), after one that does: functions whose variables others could
// reach, and what the hardware is asked.
#include "check.h"
#include <ompx.h>

enum { BLOCKS = 3, LARGE = 600 };

#pragma omp begin declare target
__attribute__((noinline)) static void add(long *to, long what) { *to += what; }

// At -O0 clang has the runtime give memory for `sum` and `values`.
__attribute__((noinline)) static long sum_of(int base) {
  long sum = 0, values[LARGE];
  for (int at = 0; at < LARGE; ++at) {
    values[at] = 0;
    add(&values[at], base + at);
  }
  ompx_sync_block_acq_rel();
  for (int at = 0; at < LARGE; ++at)
    add(&sum, values[at]);
  return sum;
}
#pragma omp end declare target

static void bare(int threads) {
  long sums[BLOCKS * 128] = {0};
  int shape[4] = {0};
#pragma omp target teams ompx_bare num_teams(BLOCKS) thread_limit(threads) map(tofrom : sums, shape)
  {
    int id = ompx_block_id_x() * ompx_block_dim_x() + ompx_thread_id_x();
    sums[id] = sum_of(id);
    if (id == 1) {
      shape[0] = ompx_block_dim_x();
      shape[1] = ompx_grid_dim_x();
      shape[2] = ompx_thread_id_y();
      shape[3] = ompx_block_dim_z();
    }
  }
  for (int id = 0; id < BLOCKS * threads; ++id)
    CHECK(sums[id], (long)LARGE * id + (long)LARGE * (LARGE - 1) / 2);
  CHECK(shape[0], threads);
  CHECK(shape[1], BLOCKS);
  CHECK(shape[2], 0);
  CHECK(shape[3], 1);
}

int main(void) {
  static const int THREADS[] = {1, 32, 100, 128};
  for (int at = 0; at < 4; ++at) {
    long before = 0;
#pragma omp target teams distribute parallel for map(tofrom : before) reduction(+ : before) num_teams(BLOCKS)
    for (int i = 0; i < 1000; ++i)
      before += i;
    CHECK(before, 499500);
    bare(THREADS[at]);
  }
  return finish();
}
