/* BabelStream's kernels in OpenMP, on 2^25 doubles that stay on the device: stream KERNEL. */
#include "stream.h"

static double run(const char *kernel, double *a, double *b, double *c) {
  double sum = 0.0;
  if (strcmp(kernel, "copy") == 0) {
#pragma omp target teams distribute parallel for map(tofrom : a[0 : LENGTH], c[0 : LENGTH])
    for (long i = 0; i < LENGTH; ++i)
      c[i] = a[i];
  } else if (strcmp(kernel, "mul") == 0) {
#pragma omp target teams distribute parallel for map(tofrom : b[0 : LENGTH], c[0 : LENGTH])
    for (long i = 0; i < LENGTH; ++i)
      b[i] = scalar * c[i];
  } else if (strcmp(kernel, "add") == 0) {
#pragma omp target teams distribute parallel for map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
    for (long i = 0; i < LENGTH; ++i)
      c[i] = a[i] + b[i];
  } else if (strcmp(kernel, "triad") == 0) {
#pragma omp target teams distribute parallel for map(tofrom : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
    for (long i = 0; i < LENGTH; ++i)
      a[i] = b[i] + scalar * c[i];
  } else {
#pragma omp target teams distribute parallel for reduction(+ : sum)                                 \
    map(tofrom : a[0 : LENGTH], b[0 : LENGTH], sum)
    for (long i = 0; i < LENGTH; ++i)
      sum += a[i] * b[i];
  }
  return sum;
}

static void enter(double *a, double *b, double *c) {
#pragma omp target enter data map(to : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
}

static void leave(double *a, double *b, double *c) {
#pragma omp target exit data map(from : a[0 : LENGTH], b[0 : LENGTH], c[0 : LENGTH])
}
