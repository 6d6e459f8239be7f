// covers: target update with the present modifier for data that is not present ends the program
// status: signal 6
#include <stdio.h>

int main(void) {
  int a[4] = {0};
#pragma omp target update to(a)
  printf("without present nothing happens\n");
  fflush(stdout);
#pragma omp target update from(present : a)
  printf("not reached\n");
  return 0;
}
