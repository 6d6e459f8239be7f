// Functions of `math.h` in constructs: for clang a GPU has no `errno`, so that it takes them for instructions of the GPU's,
// which has most of them not.
#include <math.h>
#include <stdio.h>

enum { COUNT = 24, POINTS = 50 };

// One value of each group of functions.
#pragma acc routine seq
static double value(int group, double x) {
  double whole;
  int exponent;
  switch (group) {
  case 0: return sin(x) + cosf(x);
  case 1: return tan(x) + atan(x);
  case 2: return asin(x / 20) + acos(x / 20);
  case 3: return atan2(x, 2) + hypot(x, 3);
  case 4: return pow(x, 1.7) + powf(x, 2);
  case 5: return exp(-x) + exp2f(x / 4);
  case 6: return log(x) + log2(x);
  case 7: return log10(x) + log1p(x);
  case 8: return expm1(x / 9) + cbrt(x);
  case 9: return sqrt(x) + sqrtf(x);
  case 10: return sinh(x / 9) + cosh(x / 9);
  case 11: return tanh(x) + asinh(x);
  case 12: return acosh(x + 1) + atanh(x / 20);
  case 13: return erf(x) + erfc(x);
  case 14: return tgamma(x / 4 + 1) + lgamma(x + 1);
  case 15: return fmod(x, 1.3) + remainder(x, 1.7);
  case 16: return floor(x) + ceil(x) + trunc(x) + round(x) + rint(x);
  case 17: return lround(x) + lrint(x) + ilogb(x) + logb(x);
  case 18: return fmin(x, 3) + fmax(x, 4) + fdim(x, 2) + fma(x, x, 1);
  case 19: return ldexp(x, 3) + scalbn(x, 2);
  case 20: return frexp(x, &exponent) + exponent;
  case 21: return modf(x, &whole) + 2 * whole;
  case 22: return copysign(x, -1) + fabs(-x) + nextafter(x, 9);
  default: return isnan(x) + isinf(x) + signbit(-x);
  }
}

int main(void) {
  static double found[COUNT][POINTS];
#pragma acc parallel loop collapse(2) copyout(found)
  for (int group = 0; group < COUNT; group++)
    for (int point = 0; point < POINTS; point++) found[group][point] = value(group, 0.1 + point * 0.25);
  for (int group = 0; group < COUNT; group++)
    for (int point = 0; point < POINTS; point++) {
      double expected = value(group, 0.1 + point * 0.25);
      if (!(fabs(found[group][point] - expected) <= 1e-5 * fabs(expected) + 1e-5))
        return printf("%d of %d: %g, %g\n", group, point, found[group][point], expected), 1;
    }
  puts("ok");
}
