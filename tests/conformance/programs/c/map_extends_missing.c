// covers: a section that extends one that is mapped already ends the program
// status: signal 6
#include <stdio.h>

int main(void) {
  int a[32] = {0};
#pragma omp target enter data map(to : a[4 : 10])
#pragma omp target map(tofrom : a[6 : 2])
  a[7] = 5;
  printf("inside is fine\n");
  fflush(stdout);
#pragma omp target enter data map(to : a[8 : 16])
  printf("not reached\n");
  return 0;
}
