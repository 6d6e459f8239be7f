// covers: a region for a device that does not exist ends the program when offloading is mandatory
// status: signal 6
#include <omp.h>
#include <stdio.h>

int main(void) {
  int x = 0;
  printf("before\n");
  fflush(stdout);
#pragma omp target device(omp_get_num_devices() + 7) map(tofrom : x)
  x = 1;
  printf("not reached %d\n", x);
  return 0;
}
