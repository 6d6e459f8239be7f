// covers: exit(3) from a thread of a parallel region while the device holds data and others offload
// status: 7
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void bye(void) { printf("atexit handler\n"); }

int main(void) {
  static int a[128];
  atexit(bye);
#pragma omp target enter data map(to : a)
  printf("leaving\n");
  fflush(stdout);
#pragma omp parallel num_threads(3)
  {
    int me = omp_get_thread_num();
#pragma omp target map(tofrom : a)
    a[me] = 1;
#pragma omp barrier
    if (me == 2) exit(7);
    for (;;) {
    }
  }
  return 0;
}
