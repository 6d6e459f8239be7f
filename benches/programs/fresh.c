/* A small variable mapped `tofrom` by the region itself: allocate, copy in,
 * launch, copy out, free. */
#include "bench.h"

static void launch(void *context, long count) {
  long value = *(long *)context;
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : value)
    value += 1;
  }
  *(long *)context = value;
}

int main(void) {
  long value = 0;
  measure(launch, &value);
  require(value > 0, "the result did not come back");
  return 0;
}
