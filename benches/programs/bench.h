/* Timing shared by the latency programs.
 *
 * An operation is a function that does its work `count` times. The batch size
 * is doubled until one batch takes two milliseconds, then 150 batches run
 * and the best one counts: on a shared machine every disturbance only ever
 * adds time, so the minimum is the figure that repeats. The median is printed
 * beside it to show how disturbed the run was. */
#ifndef GANGWAY_BENCH_H
#define GANGWAY_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 150 };

typedef void (*operation)(void *context, long count);

/* Time of the processor, of all threads, is what a busy machine leaves as it is. */
#ifdef GANGWAY_BENCH_PROCESSOR_TIME
#define GANGWAY_BENCH_CLOCK CLOCK_PROCESS_CPUTIME_ID
#else
#define GANGWAY_BENCH_CLOCK CLOCK_MONOTONIC
#endif

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(GANGWAY_BENCH_CLOCK, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The two lines that the runner reads. */
static inline void print_samples(double *samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, ascending);
  printf("best_ns %.3f\nmedian_ns %.3f\n", samples[0], samples[count / 2]);
}

static inline double batch_ns(operation operate, void *context, long count) {
  double start = now_ns();
  operate(context, count);
  return now_ns() - start;
}

static inline void measure(operation operate, void *context) {
  const double wanted_ns = 2e6;
  long count = 1;
  for (;;) {
    /* The best of a few: one disturbance must not end the search early. */
    double best = batch_ns(operate, context, count);
    for (int again = 0; again < 4 && best >= wanted_ns; ++again) {
      double next = batch_ns(operate, context, count);
      best = next < best ? next : best;
    }
    if (best >= wanted_ns)
      break;
    count *= 2;
  }
  double samples[BATCHES];
  for (int batch = 0; batch < BATCHES; ++batch)
    samples[batch] = batch_ns(operate, context, count) / (double)count;
  print_samples(samples, BATCHES);
}

/* The driver starts no kernel (benches/gpu/interposer.c): what they compute is not there. */
static inline int null_kernels(void) { return getenv("GANGWAY_BENCH_NULL") != NULL; }

/* A benchmark that fell back to the host would time the wrong thing. */
static inline void require(int condition, const char *what) {
  if (!condition) {
    fprintf(stderr, "benchmark is wrong: %s\n", what);
    exit(1);
  }
}

#endif
