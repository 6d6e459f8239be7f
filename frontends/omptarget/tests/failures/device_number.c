// Device numbers that name no device.
// run: target args=target signal=ABRT
// run: data args=data signal=ABRT
// run: alloc args=alloc signal=ABRT
// run: memcpy args=memcpy signal=ABRT
// run: default_device args=default OMP_DEFAULT_DEVICE=7 GANGWAY_CPU_DEVICES=2 signal=ABRT
#include <omp.h>
#include <string.h>

int main(int argc, char **argv) {
  int value = 0;
  const char *which = argv[argc - 1];
  if (strcmp(which, "target") == 0) {
#pragma omp target device(99) map(tofrom : value)
    value = 1;
  } else if (strcmp(which, "data") == 0) {
#pragma omp target enter data device(99) map(to : value)
  } else if (strcmp(which, "alloc") == 0) {
    omp_target_alloc(8, 99);
  } else if (strcmp(which, "memcpy") == 0) {
    int other;
    omp_target_memcpy(&other, &value, 4, 0, 0, 99, omp_get_initial_device());
  } else {
#pragma omp target map(tofrom : value)
    value = 1;
  }
  return 0;
}
