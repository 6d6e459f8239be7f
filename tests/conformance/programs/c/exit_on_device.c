// covers: exit(3) called by device code ends the process with its status
// status: 9
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  printf("before\n");
  fflush(stdout);
#pragma omp target
  exit(9);
  printf("after\n");
  return 0;
}
