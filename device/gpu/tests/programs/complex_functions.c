// The functions of <complex.h> in regions, compared with the host's.
#include "check.h"
#include <complex.h>
#include <math.h>

#define EACH(DO)                                                                                 \
  DO(acos) DO(acosh) DO(asin) DO(asinh) DO(atan) DO(atanh) DO(cos) DO(cosh) DO(exp) DO(log)      \
  DO(proj) DO(sin) DO(sinh) DO(sqrt) DO(tan) DO(tanh) DO(onj)

#define COMPARE(name)                                                                            \
  for (int k = 0; k < 4; ++k) {                                                                  \
    double complex z = points[k], r = 0;                                                         \
    float complex zf = (float complex)z, rf = 0;                                                                \
    _Pragma("omp target map(tofrom : r, rf)") {                                                  \
      r = c##name(z);                                                                            \
      rf = c##name##f(zf);                                                                       \
    }                                                                                            \
    double complex e = c##name(z);                                                               \
    CHECK(cabs(r - e) <= 1e-15 * (1 + cabs(e)), 1);                                              \
    CHECK(cabs(rf - c##name(zf)) <= 1e-7 * (1 + cabs(e)), 1);                                    \
  }

int main(void) {
  const double complex points[4] = {0.75 - 1.25 * I, -3 + 0.5 * I, 0.125 * I, -0.5 - 20 * I};
  EACH(COMPARE)
  {
    double complex z = points[0], w = points[1], r = 0;
    double real = 0;
    float single = 0;
#pragma omp target map(tofrom : r, real, single)
    {
      r = cpow(z, w);
      real = cabs(z) + carg(z) + creal(z) * cimag(w);
      single = cabsf((float complex)z) + cargf((float complex)w);
    }
    CHECK(cabs(r - cpow(z, w)) < 1e-14, 1);
    CHECK(fabs(real - (cabs(z) + carg(z) + creal(z) * cimag(w))) < 1e-15, 1);
    CHECK(fabsf(single - (cabsf((float complex)z) + cargf((float complex)w))) < 1e-6, 1);
  }
  {
    double complex sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) num_teams(5)
    for (int i = 0; i < 1000; ++i) sum += cexp(I * i) * conj(cexp(I * i)) + csqrt(-4) * I;
    CHECK(creal(sum) - 0.5, -1000);
    CHECK(cimag(sum), 0);
  }
  return finish();
}
