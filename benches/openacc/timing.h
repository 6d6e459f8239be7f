/* What the programs of `make bench-openacc` and `make bench-checks` have in common. A problem (NAME.h) has
 * its data and its check, and a form of it (NAME_acc.c, NAME_omp.c) the regions. The data stays on the
 * device; a pass computes everything once. The first pass compiles the kernels and is not counted. */
#ifndef GANGWAY_BENCH_TIMING_H
#define GANGWAY_BENCH_TIMING_H

#include "../programs/bench.h"

#include <math.h>
#include <string.h>

#ifndef PASSES
enum { PASSES = 7 };
#endif

/* Of the problem. */
static void prepare(void);
static void check(void);

/* Of the form: data to the device, one pass, results back. */
static void enter(void);
static void run(void);
static void leave(void);

static unsigned random_state = 1;

static inline unsigned random_bits(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return random_state >> 8;
}

/* Between 0 and 1. */
static inline float random_number(void) { return (float)random_bits() / (1 << 24); }

/* Sums in another order differ in their last digits. */
static inline void require_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected)))) {
    fprintf(stderr, "benchmark is wrong: %.9g on the device, %.9g on the host\n", found, expected);
    exit(1);
  }
}

/* Time of the processor that the process has taken so far. */
static inline double whole_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The most memory that the process has had. */
static inline void print_peak(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long peak;
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmHWM: %ld", &peak) == 1)
      printf("peak_kib %ld\n", peak);
  if (status)
    fclose(status);
}

int main(void) {
  prepare();
  enter();
  run();
  double samples[PASSES];
  for (int pass = 0; pass < PASSES; ++pass) {
    double start = now_ns();
    run();
    samples[pass] = now_ns() - start;
  }
  leave();
  check();
  print_samples(samples, PASSES);
  printf("whole_ns %.3f\n", whole_ns());
  print_peak();
  return 0;
}

#endif
