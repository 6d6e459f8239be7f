/* Complex numbers in reductions, which clang-22 refuses, truth values, and sums that are reduced by `-`. */
#include <complex.h>
#include <stdio.h>

enum { N = 3000 };

int main(void) {
  static double _Complex a[N];
  static float _Complex b[N];
  double _Complex sum = 10 + 20 * I, product = 1, rows[4];
  float _Complex single = 0;
  for (int i = 0; i < N; ++i) a[i] = i - 2 * i * I, b[i] = 1 + (i % 3) * I;
#pragma acc data copyin(a, b)
  {
#pragma acc parallel loop reduction(+ : sum)
    for (int i = 0; i < N; ++i) sum += a[i];
#pragma acc parallel loop reduction(* : product) num_gangs(10)
    for (int i = 0; i < 41; ++i) product *= i % 2 ? 2 * I : 1;
#pragma acc kernels loop reduction(+ : single)
    for (int i = 0; i < N; ++i) single += b[i];
#pragma acc parallel loop gang copyout(rows)
    for (int i = 0; i < 4; ++i) {
      double _Complex row = 0;
#pragma acc loop worker vector reduction(+ : row)
      for (int j = 0; j < N / 4; ++j) row += a[i * (N / 4) + j];
      rows[i] = row;
    }
  }
  int failed = 0;
  if (sum != 10 + 20 * I + (double)N * (N - 1) / 2 * (1 - 2 * I)) printf("sum\n"), failed = 1;
  if (product != 1048576) printf("product %g %g\n", creal(product), cimag(product)), failed = 1;
  if (single != N + N * I) printf("single\n"), failed = 1;
  for (int i = 0; i < 4; ++i) {
    double part = 750.0 * (2 * i * 750 + 749) / 2;
    if (rows[i] != part * (1 - 2 * I)) printf("row %d\n", i), failed = 1;
  }
  _Bool any = 0, odd = 0;
#pragma acc parallel loop reduction(+ : any) reduction(^ : odd) num_gangs(9)
  for (int i = 0; i < 101; ++i) any += i == 50, odd ^= 1;
  if (!any || !odd) printf("truth\n"), failed = 1;
  int rest = 1000;
#pragma acc parallel loop reduction(-:rest)
  for (int i = 0; i < 100; ++i) rest -= 2;
  if (rest != 800) printf("rest %d\n", rest), failed = 1;
  if (!failed) printf("ok\n");
  return failed;
}
