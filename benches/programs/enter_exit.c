/* `target enter data` and `target exit data` of one small array, as one
 * operation. */
#include "bench.h"

enum { LENGTH = 64 };

static void enter_and_exit(void *context, long count) {
  double *a = context;
  for (long i = 0; i < count; ++i) {
#pragma omp target enter data map(to : a[0 : LENGTH])
#pragma omp target exit data map(from : a[0 : LENGTH])
  }
}

int main(void) {
  double *a = calloc(LENGTH, sizeof *a);
  a[1] = 7.0;
  measure(enter_and_exit, a);
  require(a[1] == 7.0, "the array did not survive the round trip");
  return 0;
}
