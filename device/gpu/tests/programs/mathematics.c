// Mathematical functions on the GPU and on the host differ by a few units in the last place at most: those
// that the README of the functions states, and as many of the host's own.
#include "check.h"
#include <math.h>
#include <string.h>

enum { N = 2048 };

static double in[N], out[N];
static float in_single[N], out_single[N];

static long units(double got, double expected) {
  long long bits[2];
  memcpy(&bits[0], &got, 8);
  memcpy(&bits[1], &expected, 8);
  return (long)llabs(bits[0] - bits[1]);
}

static long units_single(float got, float expected) {
  int bits[2];
  memcpy(&bits[0], &got, 4);
  memcpy(&bits[1], &expected, 4);
  return labs((long)bits[0] - bits[1]);
}

#define PRAGMA(text) _Pragma(#text)

#define COMPARE(function, most)                                                                  \
  do {                                                                                           \
    PRAGMA(omp target teams distribute parallel for map(to : in) map(from : out))                \
    for (int i = 0; i < N; ++i)                                                                  \
      out[i] = function(in[i]);                                                                  \
    PRAGMA(omp target teams distribute parallel for map(to : in_single) map(from : out_single))  \
    for (int i = 0; i < N; ++i)                                                                  \
      out_single[i] = function##f(in_single[i]);                                                 \
    long worst = 0, worst_single = 0;                                                            \
    for (int i = 0; i < N; ++i) {                                                                \
      const long u = units(out[i], function(in[i]));                                             \
      const long v = units_single(out_single[i], function##f(in_single[i]));                     \
      worst = u > worst ? u : worst;                                                             \
      worst_single = v > worst_single ? v : worst_single;                                        \
    }                                                                                            \
    if (worst > (most) || worst_single > (most)) {                                               \
      ++failures;                                                                                \
      printf("%s: %ld and %ld units, not at most %d\n", #function, worst, worst_single, most);   \
    }                                                                                            \
  } while (0)

int main(void) {
  for (int i = 0; i < N; ++i) {
    in[i] = 0.01 + i * 0.0037;
    in_single[i] = (float)in[i];
  }
  COMPARE(sin, 2);
  COMPARE(cos, 2);
  COMPARE(tan, 2);
  COMPARE(exp, 2);
  COMPARE(log, 2);
  COMPARE(tanh, 3);
  COMPARE(atan, 2);
  COMPARE(cbrt, 2);
  COMPARE(log1p, 2);
  COMPARE(expm1, 2);
  COMPARE(exp2, 2);
  COMPARE(erf, 2);
  COMPARE(sqrt, 0);
  COMPARE(floor, 0);
  return finish();
}
