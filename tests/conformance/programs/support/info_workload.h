// What the LIBOMPTARGET_INFO programs do; the variable decides what is told about it.
#include <stdio.h>

struct part {
  int n;
  double *data;
};

int main(void) {
  int a[4] = {1, 2, 3, 4}, n = 4;
  double values[3] = {1, 2, 3};
  struct part part = {3, values};
#pragma omp target map(tofrom : a)
  a[0] += n;
#pragma omp target data map(to : a) map(alloc : n)
  {
#pragma omp target map(tofrom : a[1 : 2])
    a[1]++;
#pragma omp target update from(a[1 : 1])
  }
#pragma omp target enter data map(to : values)
#pragma omp target map(to : part) map(tofrom : part.data[0 : 3])
  part.data[1] += part.n;
#pragma omp target exit data map(from : values)
  printf("%d %d %g\n", a[0], a[1], values[1]);
  return 0;
}
