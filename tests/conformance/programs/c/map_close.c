// covers: the close modifier, alone and with always
#include <stdio.h>

int main(void) {
  int a[6] = {1, 2, 3, 4, 5, 6};
#pragma omp target enter data map(close, to : a)
#pragma omp target map(close, tofrom : a)
  for (int i = 0; i < 6; i++) a[i] *= a[i];
  printf("%d\n", a[5]);
#pragma omp target map(always, close, from : a)
  a[0] = 7;
  printf("%d %d\n", a[0], a[5]);
#pragma omp target exit data map(close, from : a)
  printf("%d %d\n", a[0], a[5]);
  return 0;
}
