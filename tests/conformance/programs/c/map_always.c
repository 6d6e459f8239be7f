// covers: the always modifier on to, from and tofrom for data that is present
#include <stdio.h>

int main(void) {
  int a[4] = {1, 2, 3, 4}, seen = 0;
#pragma omp target data map(tofrom : a)
  {
    a[0] = 10;
#pragma omp target map(to : a) map(from : seen)
    seen = a[0];
    printf("to: the device keeps its copy, %d\n", seen);
#pragma omp target map(always, to : a) map(from : seen)
    seen = a[0];
    printf("always to: %d\n", seen);
#pragma omp target map(from : a)
    a[1] = 20;
    printf("from: the host keeps its copy, %d\n", a[1]);
#pragma omp target map(always, from : a)
    a[2] = 30;
    printf("always from: %d %d\n", a[1], a[2]);
    a[3] = 40;
#pragma omp target map(always, tofrom : a)
    a[3]++;
    printf("always tofrom: %d\n", a[3]);
#pragma omp target map(always, tofrom : a[1 : 2])
    a[1] += a[2];
    printf("always tofrom of a part: %d %d %d %d\n", a[0], a[1], a[2], a[3]);
  }
  printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
  return 0;
}
