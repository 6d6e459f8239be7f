// covers: target update to and from: scalars, sections, members, several lists, if and device, no map
#include <stdio.h>

struct point {
  int x, y, z;
};

int main(void) {
  int n = 1, a[10];
  struct point p = {1, 2, 3};
  for (int i = 0; i < 10; i++) a[i] = i;
#pragma omp target enter data map(to : n, a, p)
  n = 5;
  a[3] = a[4] = a[5] = 50;
  p.y = 20;
  p.z = 30;
#pragma omp target update to(n, a[4 : 1], p.y)
  int out[5];
#pragma omp target map(from : out) map(tofrom : n)
  {
    out[0] = n;
    out[1] = a[3];
    out[2] = a[4];
    out[3] = p.y;
    out[4] = p.z;
    n = 6;
    for (int i = 0; i < 10; i++) a[i] = 70 + i;
    p.x = 11;
  }
  for (int i = 0; i < 5; i++) printf("%d ", out[i]);
  printf("\n");
#pragma omp target update from(n, p.x) from(a[8 : 2])
  printf("%d %d %d %d %d\n", n, p.x, a[7], a[8], a[9]);
#pragma omp target exit data map(delete : n, a, p)
#pragma omp target update from(n, a)
  printf("%d %d\n", n, a[0]);
  return 0;
}
