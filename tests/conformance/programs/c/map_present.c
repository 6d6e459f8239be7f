// covers: the present modifier on map and on motion clauses, for data that is present
#include <stdio.h>

int main(void) {
  double a[10];
  for (int i = 0; i < 10; i++) a[i] = i;
#pragma omp target enter data map(to : a)
#pragma omp target map(present, tofrom : a)
  for (int i = 0; i < 10; i++) a[i] *= 2;
#pragma omp target map(present, always, from : a[2 : 3])
  a[4] = -1;
  printf("%g %g %g\n", a[1], a[3], a[4]);
#pragma omp target data map(present, alloc : a[0 : 10])
  {
#pragma omp target update from(present : a)
  }
  printf("%g %g\n", a[1], a[9]);
  a[9] = 5;
#pragma omp target update to(present : a[9 : 1])
#pragma omp target exit data map(present, from : a)
  printf("%g\n", a[9]);
  return 0;
}
