// functions: __tgt_target_nowait_query __tgt_target_sync
#include "abi.h"

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  ident_t here = {0, 2, 0, 0, ";tasks.c;main;1;1;;"};
  // Nothing implicit is under way.
  __tgt_target_sync(&here, 0, 0, 0);
  __tgt_target_sync(0, 0, 0, 0);
  // Asked about what was never left unfinished: a fault of whoever asks.
  void *none = 0;
  CHECK(ABORTS(__tgt_target_nowait_query(0)));
  CHECK(ABORTS(__tgt_target_nowait_query(&none)));
  // On a synchronous device a nowait region leaves nothing in its task.
  int value = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(value)
    {
      void *bases[] = {&value};
      int64_t sizes[] = {4}, types[] = {TO | FROM | PARAMETER};
      kernel_arguments arguments = {3, 1, bases, bases, sizes, types};
      arguments.flags = 1;
      CHECK(__tgt_target_kernel(&here, 0, -1, 0, &increment_region, &arguments) == 0);
    }
  }
  CHECK(value == 1);
  return 0;
}
