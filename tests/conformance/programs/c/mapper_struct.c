// covers: a user-defined mapper for a structure with pointers, default and named
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;
  int *data;
} vec;

#pragma omp declare mapper(vec v) map(v.n) map(v.data[0 : v.n])
#pragma omp declare mapper(head : vec v) map(v.n) map(v.data[0 : 2])

int main(void) {
  vec v = {5, malloc(5 * sizeof(int))};
  int *host = v.data;
  for (int i = 0; i < v.n; i++) v.data[i] = i;
#pragma omp target map(tofrom : v)
  for (int i = 0; i < v.n; i++) v.data[i] += 10;
  printf("region: %d %d\n", v.data[0], v.data[4]);
#pragma omp target map(mapper(head), tofrom : v)
  v.data[1] = 99;
  printf("named: %d %d\n", v.data[1], v.n);
#pragma omp target data map(mapper(default), tofrom : v)
  {
#pragma omp target
    v.data[2] = 77;
    printf("inside: %d\n", v.data[2]);
#pragma omp target update from(v)
    printf("updated: %d\n", v.data[2]);
    v.data[3] = 66;
#pragma omp target update to(mapper(default) : v)
  }
  printf("after: %d %d %d\n", v.data[2], v.data[3], v.data == host);
#pragma omp target enter data map(to : v)
#pragma omp target map(present, tofrom : v)
  v.data[0] = -5;
#pragma omp target exit data map(from : v)
  printf("exit: %d\n", v.data[0]);
  free(host);
  return 0;
}
