/* What one target region costs: regions CASE [COUNT]. Prints the time of one region; if the
 * driver in use is interposer.c's, also the time outside of the driver, without what measuring
 * adds to it, and the driver's calls. As in bench.h the best of many batches counts. */
#define _GNU_SOURCE
#include "../programs/bench.h"

#include <dlfcn.h>
#include <omp.h>
#include <string.h>

/* The driver's library. */
#ifndef DRIVER
#define DRIVER "libcuda.so.1"
#endif

enum { MOST = 20, LENGTH = 8, LARGE = 1 << 17 };

/* The arrays of a case, which are on the device before or come and go with each region. */
typedef struct {
  double *array[MOST];
} arrays;

static void empty(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
#pragma omp target
    { }
  }
}

static void maps_1(void *context, long count) {
  double *a = ((arrays *)context)->array[0];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH])
    a[0] += 1.0;
  }
}

static void maps_5(void *context, long count) {
  double **array = ((arrays *)context)->array;
  double *a = array[0], *b = array[1], *c = array[2], *d = array[3], *e = array[4];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH], d[0 : LENGTH],         \
                           e[0 : LENGTH])
    a[0] += b[0] + c[0] + d[0] + e[0] + 1.0;
  }
}

static void maps_20(void *context, long count) {
  double **array = ((arrays *)context)->array;
  double *a = array[0], *b = array[1], *c = array[2], *d = array[3], *e = array[4], *f = array[5],
         *g = array[6], *h = array[7], *j = array[8], *k = array[9], *l = array[10], *m = array[11],
         *n = array[12], *o = array[13], *p = array[14], *q = array[15], *r = array[16],
         *s = array[17], *t = array[18], *u = array[19];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH], d[0 : LENGTH],         \
                           e[0 : LENGTH], f[0 : LENGTH], g[0 : LENGTH], h[0 : LENGTH],              \
                           j[0 : LENGTH], k[0 : LENGTH], l[0 : LENGTH], m[0 : LENGTH],              \
                           n[0 : LENGTH], o[0 : LENGTH], p[0 : LENGTH], q[0 : LENGTH],              \
                           r[0 : LENGTH], s[0 : LENGTH], t[0 : LENGTH], u[0 : LENGTH])
    a[0] += b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + j[0] + k[0] + l[0] + m[0] + n[0] +
            o[0] + p[0] + q[0] + r[0] + s[0] + t[0] + u[0] + 1.0;
  }
}

static void large(void *context, long count) {
  double *a = ((arrays *)context)->array[0];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LARGE])
    a[LARGE - 1] = a[0] += 1.0;
  }
}

static const struct {
  const char *name;
  operation operate;
  int maps, present;
} cases[] = {
    {"empty", empty, 0, 0},        {"present-1", maps_1, 1, 1},  {"present-5", maps_5, 5, 1},
    {"present-20", maps_20, 20, 1}, {"fresh-1", maps_1, 1, 0},   {"fresh-5", maps_5, 5, 0},
    {"fresh-20", maps_20, 20, 0},  {"large", large, 1, 0},
};

/* The counters of interposer.c, if it is there. */
static struct {
  int (*functions)(void);
  const char *(*name)(int);
  long (*calls)(int);
  long (*inside_ns)(void);
  double (*own_ns)(void);
} driver;

static void find_counters(void) {
  void *library = dlopen(DRIVER, RTLD_NOW | RTLD_NOLOAD);
  require(library != NULL, "the regions run without " DRIVER);
  *(void **)&driver.functions = dlsym(library, "bench_functions");
  *(void **)&driver.name = dlsym(library, "bench_name");
  *(void **)&driver.calls = dlsym(library, "bench_calls");
  *(void **)&driver.inside_ns = dlsym(library, "bench_inside_ns");
  *(void **)&driver.own_ns = dlsym(library, "bench_own_ns");
}

static double best_outside(operation operate, void *context, long count) {
  double best = 1e300;
  for (int batch = 0; batch < BATCHES; ++batch) {
    long inside = driver.inside_ns();
    double whole = batch_ns(operate, context, count);
    double outside = (whole - (double)(driver.inside_ns() - inside)) / (double)count;
    best = outside < best ? outside : best;
  }
  return best;
}

/* Answers how many calls one region makes. */
static double print_calls(operation operate, void *context) {
  enum { COUNT = 1000 };
  int functions = driver.functions();
  long *before = malloc((size_t)functions * sizeof *before);
  for (int index = 0; index < functions; ++index)
    before[index] = driver.calls(index);
  operate(context, COUNT);
  long all = 0;
  for (int index = 0; index < functions; ++index) {
    long made = driver.calls(index) - before[index];
    all += made;
    if (made)
      printf("call %s %g\n", driver.name(index), (double)made / COUNT);
  }
  free(before);
  return (double)all / COUNT;
}

int main(int argc, char **argv) {
  for (size_t which = 0; argc > 1 && which < sizeof cases / sizeof *cases; ++which) {
    if (strcmp(cases[which].name, argv[1]))
      continue;
    operation operate = cases[which].operate;
    arrays all;
    for (int index = 0; index < MOST; ++index) {
      double *a = all.array[index] = calloc(LARGE, sizeof *a);
      if (cases[which].present) {
#pragma omp target enter data map(to : a[0 : LENGTH])
      }
    }
    measure(operate, &all);
    find_counters();
    if (driver.functions) {
      long count = 256;
      while (batch_ns(operate, &all, count) < 2e6)
        count *= 2;
      double outside = best_outside(operate, &all, count), own = driver.own_ns();
      double calls = print_calls(operate, &all);
      printf("measuring_ns %.3f\noutside_ns %.3f\n", own * calls, outside - own * calls);
    }
    double *first = all.array[0];
    if (cases[which].present) {
      require(first[0] == 0.0, "the region ran on the host's copy");
#pragma omp target exit data map(from : first[0 : LENGTH])
    }
    require(!cases[which].maps || null_kernels() || first[0] > 0.0, "the region did not run");
    return 0;
  }
  return fprintf(stderr, "usage: regions CASE\n"), 2;
}
