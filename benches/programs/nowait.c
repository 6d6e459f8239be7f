/* A `nowait` region and the `taskwait` that awaits it. Most of the cost is the
 * host OpenMP library's, which hands the region to a hidden helper thread. */
#include "bench.h"

enum { LENGTH = 64 };

static void launch(void *context, long count) {
  double *a = context;
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH]) nowait
    a[0] += 1.0;
#pragma omp taskwait
  }
}

int main(void) {
  double *a = calloc(LENGTH, sizeof *a);
#pragma omp target enter data map(to : a[0 : LENGTH])
  measure(launch, a);
#pragma omp target exit data map(from : a[0 : LENGTH])
  require(a[0] > 0.0, "the region did not run");
  return 0;
}
