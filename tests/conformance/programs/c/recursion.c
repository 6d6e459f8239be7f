// covers: recursion on the device, mutual recursion, deep stack frames
#include <stdio.h>

#pragma omp begin declare target
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int is_odd(int n);
int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
int deep(int n, const int *above) {
  int frame[64];
  for (int i = 0; i < 64; i++) frame[i] = n + (above ? above[i] % 7 : 0);
  return n == 0 ? frame[63] : deep(n - 1, frame) + frame[n % 64];
}
#pragma omp end declare target

int main(void) {
  int out[4];
#pragma omp target map(from : out)
  {
    out[0] = fibonacci(18);
    out[1] = is_even(101);
    out[2] = ackermann(2, 5);
    out[3] = deep(500, 0);
  }
  printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
  int sums[8];
#pragma omp target teams distribute parallel for map(from : sums)
  for (int i = 0; i < 8; i++) sums[i] = fibonacci(i + 8);
  for (int i = 0; i < 8; i++) printf("%d ", sums[i]);
  printf("\n");
  return 0;
}
