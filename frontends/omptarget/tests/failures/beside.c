// Writes beside what is mapped: guards around every mapping see them.
// run: after args=after GANGWAY_CHECK=1 signal=ABRT
// run: before args=before GANGWAY_CHECK=1 signal=ABRT
// run: far args=far GANGWAY_CHECK=1 signal=ABRT
// run: two args=two GANGWAY_CHECK=1 signal=ABRT
// run: worker args=worker GANGWAY_CHECK=1 OMP_NUM_THREADS=4 signal=ABRT
// run: allocated args=allocated GANGWAY_CHECK=1 signal=ABRT
// run: copied args=copied GANGWAY_CHECK=1 signal=ABRT
// run: without_debug_information args=after flags=-g0 GANGWAY_CHECK=1 signal=ABRT
// run: pages args=after GANGWAY_CHECK=2 signal=ABRT
// run: fence args=worker GANGWAY_CHECK=2 OMP_NUM_THREADS=4 signal=SEGV
// run: read args=read GANGWAY_CHECK=2 signal=SEGV
// run: pages_right args=none GANGWAY_CHECK=2 exit=0
// run: quiet args=after exit=0
// run: right args=none GANGWAY_CHECK=1 exit=0
// run: value args=none GANGWAY_CHECK=every exit=0
#include <omp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  int n = 10;
  int small[10] = {0};
  double *large = calloc(100000, sizeof(double));
  if (strcmp(which, "after") == 0) {
#pragma omp target map(tofrom : small)
    for (int i = 0; i <= n; ++i)
      small[i] = i;
  } else if (strcmp(which, "before") == 0) {
#pragma omp target map(tofrom : large[50000 : 100])
    for (int i = 0; i < 100; ++i)
      large[50000 + i - 1] = i;
  } else if (strcmp(which, "far") == 0) {
#pragma omp target map(tofrom : large[0 : 100])
    large[100 + 99] = 1;
  } else if (strcmp(which, "two") == 0) {
#pragma omp target data map(tofrom : large[0 : 100])
    {
#pragma omp target map(tofrom : small)
      for (int i = 0; i < 2; ++i)
        small[n + i] = large[100 + i] = 5;
    }
  } else if (strcmp(which, "worker") == 0) {
#pragma omp target parallel for map(tofrom : large[0 : 1000])
    for (int i = 0; i < 1001; ++i)
      large[i] = i;
  } else if (strcmp(which, "read") == 0) {
#pragma omp target map(tofrom : small) map(to : large[8 : 64])
    for (int i = 8; i < 73; ++i)
      small[i % 10] += large[i];
  } else if (strcmp(which, "allocated") == 0) {
    char *device = omp_target_alloc(100, 0);
#pragma omp target is_device_ptr(device)
    device[100] = 1;
  } else if (strcmp(which, "copied") == 0) {
    char *device = omp_target_alloc(80, 0);
    omp_target_memcpy(device, large, 88, 0, 0, 0, omp_get_initial_device());
    omp_target_free(device, 0);
  }
#pragma omp target map(tofrom : small, large[0 : 100000])
  for (int i = 0; i < 10; ++i)
    small[i] = large[99999 - i] = i;
  free(large);
  return small[9] == 9 ? 0 : 1;
}
