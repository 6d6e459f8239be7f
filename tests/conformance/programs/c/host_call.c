// covers: host calls from target regions, by every thread of a loop, by one thread, and on the host
// stock: unusable because host calls are not in it
#include "../../../../frontends/openmp/include/gangway/host_call.h"
#include <omp.h>
#include <stdio.h>

struct question { int x, thread, device; double more[40]; };

static void ask(void *block, size_t size) {
  struct question *q = block;
  q->x = q->x * 2 + (size == sizeof *q);
  q->device = gangway_host_call_device();
  q->more[39] += 1.5;
}
GANGWAY_HOST_FUNCTION(ask);

static void add(void *block, size_t size) {
  static long total;
  long *value = block;
  __atomic_fetch_add(&total, *value, __ATOMIC_RELAXED);
  *value = total;
}
GANGWAY_HOST_FUNCTION(add);

int main(void) {
  int devices = omp_get_num_devices();
  for (int device = 0; device <= devices; device++) {
    int wrong = 0, unknown = 0, malformed = 0;
    #pragma omp target teams distribute parallel for device(device) map(tofrom: wrong, unknown) reduction(+: wrong, unknown)
    for (int i = 0; i < 1000; i++) {
      struct question q = {.x = i};
      q.more[39] = i;
      if (i % 3) {
        int outcome = GANGWAY_HOST_CALL(ask, &q, sizeof q);
        wrong += outcome != 0 || q.x != 2 * i + 1 || q.device != device || q.more[39] != i + 1.5;
      } else {
        long one = 1;
        wrong += GANGWAY_HOST_CALL(add, &one, sizeof one) != 0 || one < 1;
      }
      unknown += i == 17 && GANGWAY_HOST_CALL(missing, &q, sizeof q) == GANGWAY_HOST_CALL_UNKNOWN;
    }
    long total = 0;
    #pragma omp target device(device) map(tofrom: total)
    GANGWAY_HOST_CALL(add, &total, sizeof total);
    // Blocks that are none, one lane with and one without.
    #pragma omp target parallel for num_threads(2) device(device) map(tofrom: malformed) reduction(+: malformed)
    for (int i = 0; i < 2; i++) {
      long one = 0;
      malformed += GANGWAY_HOST_CALL(add, i ? &one : 0, sizeof one) == GANGWAY_HOST_CALL_MALFORMED;
      malformed += GANGWAY_HOST_CALL(add, i ? &one : 0, GANGWAY_HOST_CALL_LARGEST + 1) == GANGWAY_HOST_CALL_MALFORMED;
    }
    printf("device %d: %d wrong, %d unknown, %d malformed, total %ld\n", device, wrong, unknown, malformed, total);
  }
  return 0;
}
