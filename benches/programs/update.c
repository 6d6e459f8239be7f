/* `target update` of eight bytes inside a mapped array. */
#include "bench.h"

enum { LENGTH = 64 };

static void update(void *context, long count) {
  double *a = context;
  for (long i = 0; i < count; ++i) {
#pragma omp target update to(a[3 : 1])
  }
}

int main(void) {
  double *a = calloc(LENGTH, sizeof *a);
#pragma omp target enter data map(to : a[0 : LENGTH])
  a[3] = 42.0;
  measure(update, a);
  a[3] = 0.0;
#pragma omp target exit data map(from : a[0 : LENGTH])
  require(a[3] == 42.0, "the update did not reach the device");
  return 0;
}
