// Sums of floating-point numbers: near to the sequential one, and with the same bits in every run of
// the same launch, whichever team comes last; also with more teams than the buffer has slots.

#include "check.h"
#include <math.h>
#include <string.h>

enum { N = 20000 };

static double values[N];

#define PRAGMA(text) _Pragma(#text)

#define SUMS(name, construct)                                  \
  static double name(void) {                                   \
    double sum = 0;                                            \
    PRAGMA(construct reduction(+ : sum) map(to : values))      \
    for (int i = 0; i < N; ++i)                                \
      sum += values[i];                                        \
    return sum;                                                \
  }

SUMS(parallel, omp target parallel for)
SUMS(few_threads, omp target parallel for num_threads(45))
SUMS(teams, omp target teams distribute parallel for)
SUMS(small_teams, omp target teams distribute parallel for num_teams(700) thread_limit(8))
SUMS(many_teams, omp target teams distribute parallel for num_teams(3000) thread_limit(32))
SUMS(serial_teams, omp target teams distribute num_teams(1500))

static void check(const char *name, double (*sum)(void), double wanted) {
  double first = sum();
  CHECK(fabs(first - wanted) <= 1e-12 * N, 1);
  for (int run = 0; run < 3; ++run) {
    double again = sum();
    if (memcmp(&first, &again, sizeof first)) {
      printf("%s: %a and then %a\n", name, first, again);
      ++failures;
    }
  }
}

int main(void) {
  double wanted = 0, lost = 0;
  for (int i = 0; i < N; ++i) {
    values[i] = 1.0 / (i + 1) - 0.5 / ((i * 7919L) % N + 1);
    double y = values[i] - lost, next = wanted + y;
    lost = (next - wanted) - y;
    wanted = next;
  }
#pragma omp target data map(to : values)
  {
    check("parallel", parallel, wanted);
    check("few_threads", few_threads, wanted);
    check("teams", teams, wanted);
    check("small_teams", small_teams, wanted);
    check("many_teams", many_teams, wanted);
    check("serial_teams", serial_teams, wanted);
  }
  return finish();
}
