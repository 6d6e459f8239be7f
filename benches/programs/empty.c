/* The floor of a launch: a region without a body and without arguments. */
#include "bench.h"

static void launch(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
#pragma omp target
    { }
  }
}

int main(void) {
  measure(launch, NULL);
  return 0;
}
