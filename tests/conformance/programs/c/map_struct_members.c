// covers: single members and ranges of members of a structure, nested structures, arrays in them
#include <stdio.h>

struct inner {
  int a, b;
  int list[4];
};
struct outer {
  char pad;
  int first;
  struct inner inner;
  int last;
  double tail[3];
};

int main(void) {
  struct outer s = {'p', 1, {2, 3, {4, 5, 6, 7}}, 8, {9, 10, 11}};
#pragma omp target map(tofrom : s.first, s.last)
  {
    s.first += 100;
    s.last += 100;
  }
  printf("%d %d %d\n", s.first, s.inner.a, s.last);
#pragma omp target map(tofrom : s.inner.list[1 : 2])
  {
    s.inner.list[1] += 3;
    s.inner.list[2] += 3;
  }
  printf("%d %d %d %d\n", s.inner.b, s.inner.list[0], s.inner.list[1], s.inner.list[2]);
#pragma omp target map(tofrom : s.inner) map(from : s.tail[1])
  {
    s.inner.a = s.inner.list[3];
    s.tail[1] = 0.5;
  }
  printf("%d %g %g %g\n", s.inner.a, s.tail[0], s.tail[1], s.tail[2]);
#pragma omp target data map(tofrom : s)
  {
#pragma omp target map(tofrom : s.last)
    s.last = 1;
    printf("%d\n", s.last);
#pragma omp target update from(s.last)
    printf("%d\n", s.last);
#pragma omp target map(always, from : s.tail[2])
    s.tail[2] = 77;
    printf("%g\n", s.tail[2]);
  }
  return 0;
}
