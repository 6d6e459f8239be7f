// More than the device has.
// run: fallback args=target GANGWAY_CPU_MEMORY=4KiB exit=0
// run: mandatory args=target GANGWAY_CPU_MEMORY=4KiB OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: with_mapped_data args=mapped GANGWAY_CPU_MEMORY=4KiB signal=ABRT
// run: enter_data args=enter GANGWAY_CPU_MEMORY=4KiB OMP_TARGET_OFFLOAD=MANDATORY signal=ABRT
// run: alloc args=alloc GANGWAY_CPU_MEMORY=4KiB exit=0
// run: alloc_debug args=alloc GANGWAY_CPU_MEMORY=4KiB GANGWAY_DEBUG=1 exit=0
#include <omp.h>
#include <string.h>

static char large[8192], small[1024];

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  if (strcmp(which, "alloc") == 0)
    return omp_target_alloc(8192, 0) != 0;
  if (strcmp(which, "enter") == 0) {
#pragma omp target enter data map(to : small, large)
    return 1;
  }
  if (strcmp(which, "mapped") == 0) {
#pragma omp target enter data map(to : small)
  }
#pragma omp target map(tofrom : large)
  large[0] = 1;
  return large[0] != 1;
}
