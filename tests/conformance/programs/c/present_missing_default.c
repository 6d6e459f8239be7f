// covers: OMP_TARGET_OFFLOAD=DEFAULT: a failed map is still an error where there are devices
// env: OMP_TARGET_OFFLOAD=DEFAULT
// status: signal 6
#include <stdio.h>

int main(void) {
  int a[4] = {0};
  printf("before\n");
  fflush(stdout);
#pragma omp target map(present, tofrom : a)
  a[0] = 1;
  printf("not reached %d\n", a[0]);
  return 0;
}
