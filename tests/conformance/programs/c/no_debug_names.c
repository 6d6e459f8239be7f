// covers: a program compiled without debug information: maps carry no names, regions no places
// flags: -g0
#include <stdio.h>

struct s {
  int a;
  int *p;
};

int main(void) {
  int v[3] = {1, 2, 3};
  struct s s = {1, v};
#pragma omp target map(tofrom : s.a, s.p[0 : 3])
  {
    s.a++;
    s.p[1] *= 10;
  }
#pragma omp target data map(tofrom : v)
  {
#pragma omp target update to(v)
  }
  printf("%d %d\n", s.a, v[1]);
  return 0;
}
