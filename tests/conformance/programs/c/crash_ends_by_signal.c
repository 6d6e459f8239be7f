// covers: a kernel that crashes ends the process by the signal, which the status tells
// status: signal 11
#include <stdio.h>

int main(void) {
  int *nowhere = 0, result = 0;
  printf("before\n");
  fflush(stdout);
#pragma omp target map(from : result)
  result = nowhere[3];
  printf("not reached: %d\n", result);
  return 0;
}
