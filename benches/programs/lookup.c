/* A launch that finds its one array among 100,000 mapped ones, in an order
 * that no cache foresees. */
#include "bench.h"

enum { ENTRIES = 100000, STRIDE = 16, LENGTH = 8 };

static void launch(void *context, long count) {
  static unsigned random = 1;
  double *all = context;
  for (long i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    double *a = all + (size_t)((unsigned long)random * ENTRIES >> 32) * STRIDE;
#pragma omp target map(tofrom : a[0 : LENGTH])
    a[0] += 1.0;
  }
}

int main(void) {
  double *all = calloc((size_t)ENTRIES * STRIDE, sizeof *all);
  for (long i = 0; i < ENTRIES; ++i) {
    double *a = all + i * STRIDE;
#pragma omp target enter data map(to : a[0 : LENGTH])
  }
  measure(launch, all);
  double total = 0.0;
  for (long i = 0; i < ENTRIES; ++i) {
    double *a = all + i * STRIDE;
    require(a[0] == 0.0, "the region ran on the host's copy");
#pragma omp target exit data map(from : a[0 : LENGTH])
    total += a[0];
  }
  require(total > 0.0, "the region did not run");
  return 0;
}
