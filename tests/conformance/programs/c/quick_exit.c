// covers: quick_exit with a handler, after the device was used
// status: 4
#include <stdio.h>
#include <stdlib.h>

static void handler(void) {
  printf("handler\n");
  fflush(stdout);
}

int main(void) {
  int a[4] = {0};
#pragma omp target enter data map(to : a)
#pragma omp target
  a[0] = 1;
  at_quick_exit(handler);
  quick_exit(4);
}
