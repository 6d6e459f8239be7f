// covers: target update of a strided section whose lengths are no constants: clang 22 describes it wrongly, which is reported
// status: signal 6
// stock: unusable because it follows the wrong description and never ends
#include <stdio.h>

#define COLUMNS 40

static double table[8][COLUMNS];

int main(void) {
  volatile int rows = 4, columns = 20;
#pragma omp target data map(to : table)
  {
#pragma omp target
    table[2][3] = 1;
    /* Constant lengths are described right. */
#pragma omp target update from(table[0 : 4 : 2][2 : 4])
    printf("%g\n", table[2][3]);
    fflush(stdout);
#pragma omp target update from(table[0 : rows : 2][0 : columns])
    printf("not reached\n");
  }
  return 0;
}
