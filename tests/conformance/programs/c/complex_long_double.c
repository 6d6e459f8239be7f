// covers: complex numbers and long double in maps, firstprivate and sums
#include <complex.h>
#include <stdio.h>

int main(void) {
  double complex z = 1 + 2 * I, w[4] = {1, I, -1, -I};
  float complex f = 3 - 1 * I;
  long double ld = 1.25L, table[3] = {0.5L, 1e300L, 1e-300L}, out = 0;
#pragma omp target map(tofrom : z, w, f)
  {
    z *= 2 * I;
    for (int i = 0; i < 4; i++) w[i] += z;
    f = conjf(f) * f;
  }
  printf("%g %g %g %g %g %g\n", creal(z), cimag(z), creal(w[3]), cimag(w[3]), crealf(f), cimagf(f));
#pragma omp target firstprivate(ld) map(to : table) map(from : out)
  out = ld + table[0] + table[1] * table[2];
  printf("%Lg\n", out);
  double complex sum = 0;
#pragma omp target parallel map(tofrom : sum) num_threads(4)
#pragma omp for
  for (int i = 0; i < 50; i++) {
#pragma omp critical
    sum += i + (i % 2 ? I : -2 * I);
  }
  printf("%g %g\n", creal(sum), cimag(sum));
  return 0;
}
