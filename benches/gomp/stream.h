/* What the forms of BabelStream have in common. A form defines `run`, and `enter` and `leave` for the
 * arrays, which stay on the device in between. The best time of a region is printed and, with
 * interposer.c's driver, what part of it is spent outside of the launch and the wait: the runtime's
 * own. */
#define _GNU_SOURCE
#include "../programs/bench.h"

#include <dlfcn.h>
#include <string.h>

enum { LENGTH = 1 << 25, PASSES = 5 };

static const double scalar = 0.4;

/* A kernel, by name; `dot` answers its sum. */
static double run(const char *kernel, double *a, double *b, double *c);
static void enter(double *a, double *b, double *c);
static void leave(double *a, double *b, double *c);

int main(int argc, char **argv) {
  const char *kernel = argc > 1 ? argv[1] : "triad";
  double *a = malloc(LENGTH * sizeof *a), *b = malloc(LENGTH * sizeof *b), *c = malloc(LENGTH * sizeof *c);
  for (long i = 0; i < LENGTH; ++i)
    a[i] = 0.1, b[i] = 0.2, c[i] = 0.3;
  enter(a, b, c);
  run(kernel, a, b, c);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  long (*inside)(const char *) = driver ? (long (*)(const char *))dlsym(driver, "bench_inside_of") : NULL;
  require(inside != NULL, "the driver is not interposer.c's");
  double samples[PASSES], overhead = 1e300, sum = 0.0;
  for (int pass = 0; pass < PASSES; ++pass) {
    long before = inside("cuLaunchKernel") + inside("cuStreamSynchronize") + inside("cuCtxSynchronize");
    double start = now_ns();
    sum = run(kernel, a, b, c);
    samples[pass] = now_ns() - start;
    long within = inside("cuLaunchKernel") + inside("cuStreamSynchronize") + inside("cuCtxSynchronize") - before;
    double share = (samples[pass] - (double)within) / samples[pass];
    overhead = share < overhead ? share : overhead;
  }
  require(strcmp(kernel, "dot") || (sum > 671088.0 && sum < 671089.0), "dot gave a wrong sum");
  leave(a, b, c);
  require(strcmp(kernel, "triad") || (a[LENGTH - 1] > 0.31 && a[LENGTH - 1] < 0.33), "triad gave a wrong sum");
  print_samples(samples, PASSES);
  printf("overhead %.6f\n", overhead);
  return 0;
}
