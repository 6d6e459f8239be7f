// covers: a region with more than forty arguments of several kinds
#include <stdio.h>

int main(void) {
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9;
  int b0 = 10, b1 = 11, b2 = 12, b3 = 13, b4 = 14, b5 = 15, b6 = 16, b7 = 17, b8 = 18, b9 = 19;
  double c0 = .5, c1 = 1.5, c2 = 2.5, c3 = 3.5, c4 = 4.5, c5 = 5.5, c6 = 6.5, c7 = 7.5;
  char d0 = 1, d1 = 2, d2 = 3, d3 = 4, d4 = 5, d5 = 6;
  int e0[2] = {1, 2}, e1[2] = {3, 4}, e2[2] = {5, 6}, e3[2] = {7, 8}, e4[2] = {9, 10};
  long f0 = 1, f1 = 2, f2 = 3, f3 = 4, f4 = 5;
  float g0 = 1, g1 = 2, g2 = 3;
  long sum = 0;
  double real = 0;
#pragma omp target map(tofrom : a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, sum, real) \
    map(tofrom : e0, e1, e2, e3, e4)
  {
    a0 += 100, a1 += 100, a2 += 100, a3 += 100, a4 += 100;
    a5 += 100, a6 += 100, a7 += 100, a8 += 100, a9 += 100;
    sum = b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9;
    sum += d0 * d1 * d2 * d3 * d4 * d5 + f0 + f1 * f2 - f3 * f4;
    real = c0 + c1 * c2 + c3 * c4 + c5 * c6 + c7 + g0 * g1 * g2;
    e0[1] = e1[1] = e2[1] = e3[1] = e4[1] = (int)sum;
  }
  printf("%d %d %d %d %d\n", a0, a1, a2, a3, a4);
  printf("%d %d %d %d %d\n", a5, a6, a7, a8, a9);
  printf("%ld %g %d %d %d %d %d\n", sum, real, e0[1], e1[1], e2[1], e3[1], e4[1]);
  return 0;
}
