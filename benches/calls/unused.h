/* Included before another program, gives its image a host call that is never made. */
#include <gangway/host_call.h>

__attribute__((used)) static void unused_function(void *block, size_t size) { (void)block, (void)size; }
GANGWAY_HOST_FUNCTION(unused_function);

__attribute__((used)) static int unused_region(void) {
  int outcome = 0;
#pragma omp target map(tofrom : outcome)
  outcome = GANGWAY_HOST_CALL(unused_function, NULL, 0);
  return outcome;
}
