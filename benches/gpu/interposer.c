/* A driver library in front of the real one, CUDA's or HSA's: counts the calls of every function and the
 * time that is spent in them. GANGWAY_BENCH_DRIVER names the real library. With
 * GANGWAY_BENCH_NULL it starts no kernel (of CUDA's; null_kernels.h has what is done for HSA's, where kernels are no
 * calls) and reads no clock: what is left of a region is its runtime and the rest of the driver.
 *
 * names.h has one DRIVER_FUNCTION(name) for each function of the real library. All of them
 * take integers and pointers, and at most eleven: what a function does not have is passed
 * on and ignored. What they answer is an integer of at most 64 bits. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef long function(long, long, long, long, long, long, long, long, long, long, long);

enum {
#define DRIVER_FUNCTION(name) INDEX_##name,
#include "names.h"
#undef DRIVER_FUNCTION
  FUNCTIONS
};

static const char *const names[] = {
#define DRIVER_FUNCTION(name) #name,
#include "names.h"
#undef DRIVER_FUNCTION
};

static function *volatile functions[FUNCTIONS];
static atomic_long calls[FUNCTIONS];
static atomic_long inside_ns;
static atomic_long inside[FUNCTIONS];
static int null_kernels;
/* Without kernels, each thread counts for itself: a shared counter would be what threads wait for. */
static _Thread_local long own_calls[FUNCTIONS];

#ifdef BENCH_HSA
#include "null_kernels.h"
#else
static long start_no_kernel(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
                            long k) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j, (void)k;
  return 0;
}

static void replace_kernels(void) { functions[INDEX_cuLaunchKernel] = start_no_kernel; }
#endif

__attribute__((constructor)) static void open_driver(void) {
  const char *file = getenv("GANGWAY_BENCH_DRIVER");
  void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    fprintf(stderr, "GANGWAY_BENCH_DRIVER=%s: %s\n", file ? file : "", file ? dlerror() : "not set");
    exit(1);
  }
  for (int index = 0; index < FUNCTIONS; ++index)
    *(void **)(uintptr_t)&functions[index] = dlsym(library, names[index]);
  null_kernels = getenv("GANGWAY_BENCH_NULL") != NULL;
  if (null_kernels)
    replace_kernels();
}

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long do_nothing(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
                       long k) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j, (void)k;
  return 0;
}

/* A call between two readings of the clock. */
static inline long timed_call(function *volatile *callee, atomic_long *count, atomic_long *inside_all,
                              atomic_long *inside_one, long a, long b, long c, long d, long e, long f,
                              long g, long h, long i, long j, long k) {
  long start = now_ns();
  long code = (*callee)(a, b, c, d, e, f, g, h, i, j, k);
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  long took = now_ns() - start;
  atomic_fetch_add_explicit(inside_all, took, memory_order_relaxed);
  atomic_fetch_add_explicit(inside_one, took, memory_order_relaxed);
  return code;
}

#define DRIVER_FUNCTION(name)                                                                       \
  long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k) { \
    if (null_kernels) {                                                                              \
      ++own_calls[INDEX_##name];                                                                     \
      return functions[INDEX_##name](a, b, c, d, e, f, g, h, i, j, k);                               \
    }                                                                                                \
    return timed_call(&functions[INDEX_##name], &calls[INDEX_##name], &inside_ns,                    \
                      &inside[INDEX_##name], a, b, c, d, e, f, g, h, i, j, k);                       \
  }
#include "names.h"
#undef DRIVER_FUNCTION

/* What the programs read. */
int bench_functions(void) { return FUNCTIONS; }
const char *bench_name(int index) { return names[index]; }
long bench_calls(int index) { return null_kernels ? own_calls[index] : atomic_load(&calls[index]); }
long bench_inside_ns(void) { return atomic_load(&inside_ns); }
/* What counting and timing add to the time outside of the driver, for one call: what is left of
 * calls of nothing without the time that is counted as inside. The least of many batches, so that
 * it is rather too little. */
double bench_own_ns(void) {
  enum { CALLS = 1000, TRIES = 200 };
  static function *volatile nothing = do_nothing;
  static atomic_long count, all, one;
  double least = 1e300;
  for (int try = 0; try < TRIES; ++try) {
    long before = atomic_load(&all), start = now_ns();
    for (int call = 0; call < CALLS; ++call)
      timed_call(&nothing, &count, &all, &one, call, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    double left = (double)(now_ns() - start - (atomic_load(&all) - before)) / CALLS;
    least = left < least ? left : least;
  }
  return least;
}
long bench_inside_of(const char *name) {
  for (int index = 0; index < FUNCTIONS; ++index)
    if (strcmp(names[index], name) == 0)
      return atomic_load(&inside[index]);
  return 0;
}
