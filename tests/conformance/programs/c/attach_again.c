// covers: a pointer that moved on the host: attached anew where pointer or pointee is new, or with always
#include <stdio.h>

int main(void) {
  int x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, out = 0;
  struct {
    int *p;
  } s = {x};
#pragma omp target enter data map(to : x, y)
#pragma omp target enter data map(to : s, s.p[0 : 4])
#pragma omp target map(present, alloc : s) map(from : out)
  out = s.p[1];
  printf("new pointer: %d\n", out);
  s.p = y;
#pragma omp target enter data map(to : s.p[0 : 4])
#pragma omp target map(present, alloc : s) map(from : out)
  out = s.p[1];
  printf("neither is new: %d\n", out);
#pragma omp target enter data map(always, to : s.p[0 : 4])
#pragma omp target map(present, alloc : s) map(from : out)
  out = s.p[1];
  printf("always: %d\n", out);
#pragma omp target exit data map(delete : x)
  s.p = x + 1;
#pragma omp target map(to : s.p[0 : 3]) map(from : out)
  out = s.p[1];
  printf("new pointee: %d\n", out);
#pragma omp target update from(s)
  printf("the host keeps its pointer: %d\n", s.p == x + 1);
  return 0;
}
