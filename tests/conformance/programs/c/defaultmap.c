// covers: defaultmap for scalars, aggregates and pointers with each implicit behaviour
#include <stdio.h>

int main(void) {
  int s = 1, a[3] = {1, 2, 3};
#pragma omp target defaultmap(tofrom : scalar)
  s = 5;
  printf("tofrom %d\n", s);
#pragma omp target defaultmap(to : scalar) defaultmap(to : aggregate)
  {
    s = 6;
    a[0] = 6;
  }
  printf("to %d %d\n", s, a[0]);
#pragma omp target defaultmap(firstprivate : aggregate) defaultmap(from : scalar)
  {
    a[0] = 8;
    s = a[0] + a[1];
  }
  printf("firstprivate, from %d %d\n", s, a[0]);
#pragma omp target data map(tofrom : s, a)
  {
#pragma omp target defaultmap(present : aggregate) defaultmap(present : scalar)
    {
      a[2] = 33;
      s = 34;
    }
  }
  printf("present %d %d\n", s, a[2]);
#pragma omp target defaultmap(none) map(tofrom : s) firstprivate(a)
  s += a[1];
  printf("none %d\n", s);
  return 0;
}
