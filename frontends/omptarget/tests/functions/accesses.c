// What code calls that tells its accesses (-fsanitize-coverage=trace-loads,trace-stores): without the check of stale data,
// nothing comes of it.
// functions: __sanitizer_cov_load1 __sanitizer_cov_load2 __sanitizer_cov_load4 __sanitizer_cov_load8 __sanitizer_cov_load16
// functions: __sanitizer_cov_store1 __sanitizer_cov_store2 __sanitizer_cov_store4 __sanitizer_cov_store8 __sanitizer_cov_store16
#include <string.h>

#define DECLARED(bytes)                                                                                                \
  void __sanitizer_cov_load##bytes(void *);                                                                            \
  void __sanitizer_cov_store##bytes(void *);
#define CALLED(bytes)                                                                                                  \
  __sanitizer_cov_load##bytes(place);                                                                                  \
  __sanitizer_cov_store##bytes(place);

DECLARED(1) DECLARED(2) DECLARED(4) DECLARED(8) DECLARED(16)

int main(void) {
  _Alignas(16) char place[16], before[16];
  memset(place, 7, sizeof place);
  memcpy(before, place, sizeof place);
  CALLED(1) CALLED(2) CALLED(4) CALLED(8) CALLED(16)
  return memcmp(before, place, sizeof place) != 0;
}
