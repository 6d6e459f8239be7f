/* Triad and dot of 2^25 doubles, as BabelStream defines them. The arrays stay
 * on the device; the best of the passes counts. */
#include "bench.h"
#include <string.h>

enum { LENGTH = 1 << 25, PASSES = 12 };

static const double scalar = 0.4, start_a = 0.1, start_b = 0.2, start_c = 0.3;

static void initialise(double *a, double *b, double *c) {
#pragma omp target teams distribute parallel for                              \
    map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
  for (long i = 0; i < LENGTH; ++i) {
    a[i] = start_a;
    b[i] = start_b;
    c[i] = start_c;
  }
}

static void triad(double *a, double *b, double *c) {
#pragma omp target teams distribute parallel for                              \
    map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
  for (long i = 0; i < LENGTH; ++i)
    a[i] = b[i] + scalar * c[i];
}

static double dot(double *a, double *b) {
  double sum = 0.0;
#pragma omp target teams distribute parallel for reduction(+ : sum)           \
    map(tofrom : a[0 : LENGTH], b[0 : LENGTH], sum)
  for (long i = 0; i < LENGTH; ++i)
    sum += a[i] * b[i];
  return sum;
}

static int near(double got, double expected) {
  double error = got - expected;
  return (error < 0.0 ? -error : error) <= 1e-8 * expected;
}

int main(int argc, char **argv) {
  int want_dot = argc > 1 && strcmp(argv[1], "dot") == 0;
  double *a = malloc(LENGTH * sizeof *a), *b = malloc(LENGTH * sizeof *b),
         *c = malloc(LENGTH * sizeof *c);
  double samples[PASSES];
#pragma omp target enter data map(alloc : a[0 : LENGTH], b[0 : LENGTH],       \
                                      c[0 : LENGTH])
  initialise(a, b, c);
  for (int pass = 0; pass < PASSES; ++pass) {
    double start = now_ns(), sum = 0.0;
    if (want_dot)
      sum = dot(a, b);
    else
      triad(a, b, c);
    samples[pass] = now_ns() - start;
    require(!want_dot || near(sum, start_a * start_b * LENGTH),
            "dot gave a wrong sum");
  }
#pragma omp target update from(a[LENGTH - 1 : 1])
  require(want_dot || near(a[LENGTH - 1], start_b + scalar * start_c),
          "triad gave a wrong value");
#pragma omp target exit data map(release : a[0 : LENGTH], b[0 : LENGTH],      \
                                     c[0 : LENGTH])
  print_samples(samples, PASSES);
  return 0;
}
