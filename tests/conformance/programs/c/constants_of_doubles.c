// covers: constants of double precision that code uses more than once, in complex quotients and comparisons with infinity
#include <complex.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  double complex z = 1 + 2 * I, quotients[3];
  double scaled[64], sum = 0;
  int finite = 0;
  for (int i = 0; i < 64; i++) scaled[i] = i - 20.25;
#pragma omp target map(from : quotients) firstprivate(z)
  {
    quotients[0] = z * z / (3 - I);
    quotients[1] = (z + 7) / (3 - I);
    quotients[2] = z * (1.25 - 2.75 * I) + 1.25;
  }
#pragma omp target teams distribute parallel for map(tofrom : scaled) reduction(+ : sum, finite)
  for (int i = 0; i < 64; i++) {
    double x = scaled[i];
    scaled[i] = x < 0 ? x * 1.5 + 3.75 : x * 3.75 - 1.5;
    finite += fabs(x) != INFINITY && x / 3.75 < 1e300;
    sum += scaled[i] * 1.5;
  }
  for (int i = 0; i < 3; i++) printf("%g %g\n", creal(quotients[i]), cimag(quotients[i]));
  printf("%g %g %g %d\n", scaled[0], scaled[63], sum, finite);
}
