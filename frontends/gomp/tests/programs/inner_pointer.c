// A pointer in a mapped structure, to what nobody has mapped.
#include <stdlib.h>

struct vector {
  long count;
  double *data;
};

int main(void) {
  struct vector x = {100, calloc(100, sizeof(double))};
#pragma acc parallel copy(x)
#pragma omp target map(tofrom : x)
  for (long i = 0; i < x.count; i++)
    x.data[i] += 1;
  return 0;
}
