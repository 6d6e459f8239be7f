// covers: reductions of every arithmetic type and operator over teams and threads
#include <stdbool.h>
#include <stdio.h>

int main(void) {
  enum { N = 200 };
  signed char sc = 0;
  unsigned short us = 0;
  int i32 = 5;
  unsigned u = 0xffffffffu;
  long l = 0;
  unsigned long long x = 0;
  float f = 0;
  double d = 0, product = 1;
  int any = 0, all = 1;
  bool flag = true;
  unsigned ored = 0;
#pragma omp target teams distribute parallel for num_teams(3) reduction(+ : sc, us, i32, l, f, d)
  for (int i = 0; i < N; i++) {
    sc += i % 3 == 0;
    us += i;
    i32 -= i;
    l += (long)i * 1000000000;
    f += 0.5f;
    d += i * 0.25;
  }
  printf("%d %u %d %ld %g %g\n", sc, us, i32, l, f, d);
#pragma omp target teams distribute parallel for reduction(^ : x) reduction(& : u) reduction(| : ored)
  for (int i = 0; i < N; i++) {
    x ^= (unsigned long long)i << (i % 50);
    u &= ~(1u << (i % 5));
    ored |= 1u << (i % 9);
  }
  printf("%llx %x %x\n", x, u, ored);
#pragma omp target parallel for reduction(* : product) reduction(&& : all, flag) reduction(|| : any)
  for (int i = 1; i <= 16; i++) {
    product *= i % 4 + 1;
    all = all && i > 0;
    flag = flag && i != 7;
    any = any || i == 16;
  }
  printf("%g %d %d %d\n", product, all, flag, any);
  return 0;
}
