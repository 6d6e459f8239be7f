// Shared memory whose size the environment sets.
#include "check.h"

int main(void) {
  int sum = 0, there = 0;
#pragma omp target parallel num_threads(64) map(tofrom : sum, there)
  {
    int *shared = llvm_omp_target_dynamic_shared_alloc();
    int me = omp_get_thread_num();
    if (me == 0)
      there = shared != NULL;
    if (shared) {
      shared[me] = me;
#pragma omp barrier
      if (me == 0)
        for (int i = 0; i < 64; ++i)
          sum += shared[i];
    }
  }
  int asked = getenv("LIBOMPTARGET_SHARED_MEMORY_SIZE") != NULL;
  CHECK(there, asked);
  CHECK(sum, asked ? 2016 : 0);
  return finish();
}
