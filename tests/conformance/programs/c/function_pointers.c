// covers: pointers to device functions taken and called on the device, kept in device memory
#include <stdio.h>

#pragma omp begin declare target
typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static int sub(int a, int b) { return a - b; }
op chosen = 0;
#pragma omp end declare target

int main(void) {
  int out[3] = {0};
#pragma omp target map(from : out)
  {
    op table[3] = {add, mul, sub};
    for (int i = 0; i < 3; i++) out[i] = table[i](7, 3);
    chosen = table[1];
  }
  printf("%d %d %d\n", out[0], out[1], out[2]);
#pragma omp target map(from : out[0 : 1])
  out[0] = chosen(8, 9);
  printf("%d\n", out[0]);
  return 0;
}
