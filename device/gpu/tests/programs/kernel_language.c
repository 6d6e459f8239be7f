// `ompx_bare` kernels and the functions of ompx.h.
#include "check.h"
#include <ompx.h>

enum { BLOCKS = 3, THREADS = 64 };

int main(void) {
  int ids[BLOCKS * THREADS], down[THREADS], sums[BLOCKS];
  double halves[THREADS];
  unsigned long ballots = 0;
#pragma omp target teams ompx_bare num_teams(BLOCKS) thread_limit(THREADS)                             \
    map(from : ids, down, sums, halves, ballots)
  {
    int me = ompx_thread_id_x(), block = ompx_block_id_x();
    ids[block * ompx_block_dim_x() + me] = me + 1000 * block + 100000 * ompx_grid_dim_x();
    ompx_sync_block_acq_rel();
    if (me == 0) {
      int sum = 0;
      for (int i = 0; i < THREADS; ++i)
        sum += ids[block * THREADS + i] % 1000;
      sums[block] = sum;
    }
    ompx_sync_block_divergent(ompx_acq_rel);
    int shifted = ompx_shfl_down_sync_i(~0UL, me, 4, 32);
    double half = ompx_shfl_down_sync_d(~0UL, me * 0.5, 1, 8);
    unsigned long odd = ompx_ballot_sync(~0UL, me % 2);
    if (block == 0) {
      down[me] = shifted;
      halves[me] = half;
      if (me == 0)
        ballots = odd;
    }
  }
  for (int i = 0; i < BLOCKS * THREADS; ++i)
    CHECK(ids[i], i % THREADS + 1000 * (i / THREADS) + 300000);
  for (int i = 0; i < BLOCKS; ++i)
    CHECK(sums[i], THREADS * (THREADS - 1) / 2);
  for (int i = 0; i < THREADS; ++i) {
    CHECK(down[i], i % 32 < 28 ? i + 4 : i);
    CHECK(halves[i] * 2, i % 8 < 7 ? i + 1 : i);
  }
  CHECK(ballots, 0xaaaaaaaaL);
  return finish();
}
