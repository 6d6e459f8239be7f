/* A launch whose 1, 5 or 10 arrays are already on the device: what the inner
 * loop of a program with a `target data` region around it pays. */
#include "bench.h"

enum { LENGTH = 64 };

typedef struct {
  double *array[10];
} arrays;

static void launch_1(void *context, long count) {
  double *a = ((arrays *)context)->array[0];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH])
    a[0] += 1.0;
  }
}

static void launch_5(void *context, long count) {
  double **array = ((arrays *)context)->array;
  double *a = array[0], *b = array[1], *c = array[2], *d = array[3],
         *e = array[4];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH],   \
                           d[0 : LENGTH], e[0 : LENGTH])
    a[0] += b[0] + c[0] + d[0] + e[0] + 1.0;
  }
}

static void launch_10(void *context, long count) {
  double **array = ((arrays *)context)->array;
  double *a = array[0], *b = array[1], *c = array[2], *d = array[3],
         *e = array[4], *f = array[5], *g = array[6], *h = array[7],
         *p = array[8], *q = array[9];
  for (long i = 0; i < count; ++i) {
#pragma omp target map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH],   \
                           d[0 : LENGTH], e[0 : LENGTH], f[0 : LENGTH],        \
                           g[0 : LENGTH], h[0 : LENGTH], p[0 : LENGTH],        \
                           q[0 : LENGTH])
    a[0] += b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + p[0] + q[0] + 1.0;
  }
}

int main(int argc, char **argv) {
  int maps = argc > 1 ? atoi(argv[1]) : 1;
  require(maps == 1 || maps == 5 || maps == 10, "give 1, 5 or 10 maps");
  arrays all;
  for (int i = 0; i < 10; ++i) {
    double *a = all.array[i] = calloc(LENGTH, sizeof(double));
#pragma omp target enter data map(to : a[0 : LENGTH])
  }
  measure(maps == 1 ? launch_1 : maps == 5 ? launch_5 : launch_10, &all);
  double *first = all.array[0];
  require(first[0] == 0.0, "the region ran on the host's copy");
#pragma omp target exit data map(from : first[0 : LENGTH])
  require(first[0] > 0.0, "the region did not run");
  return 0;
}
