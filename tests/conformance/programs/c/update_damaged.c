// covers: target update of a strided section whose length is no constant: clang 22 describes it wrongly, which is reported
// status: signal 6
// stock: unusable because it follows the wrong description and never ends
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  size_t length;
  double *data;
} vector;
#pragma omp declare mapper(whole : vector v) map(to : v, v.length, v.data[0 : v.length])

int main(void) {
  vector v = {16, calloc(16, sizeof(double))};
#pragma omp target data map(mapper(whole), to : v)
  {
#pragma omp target map(mapper(whole), to : v)
    v.data[3] = 1;
    /* A constant length is described right. */
#pragma omp target update from(v.data[1 : 4 : 2])
    printf("%g\n", v.data[3]);
    fflush(stdout);
#pragma omp target update from(v.data[0 : v.length / 2 : 2])
    printf("not reached\n");
  }
  return 0;
}
