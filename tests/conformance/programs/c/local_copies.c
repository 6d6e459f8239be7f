// covers: constants and copies in a region's own variables, structures with initializers in reductions, variable arguments in loops
// levels: O0 O1 O2 O3
#include <stdarg.h>
#include <stdio.h>

enum { N = 1000 };

typedef struct {
  double value;
  int at;
  double more[3];
} best;
#pragma omp begin declare target
static best better(best a, best b) { return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b; }

__attribute__((noinline)) static long taken(int n, ...) {
  va_list arguments;
  va_start(arguments, n);
  long sum = 0;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 1)
      sum += va_arg(arguments, int);
    else if (i % 3 == 2)
      sum += (long)va_arg(arguments, double);
    else
      sum ^= va_arg(arguments, long);
  }
  va_end(arguments);
  return sum;
}
#pragma omp end declare target
#pragma omp declare reduction(better : best : omp_out = better(omp_out, omp_in)) initializer(omp_priv = (best){-1e300, -1, {0}})

static void tables(void) {
  int out[N];
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < N; i++) {
    const unsigned char bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    const struct { short a, b[3]; } pairs[3] = {{1, {2, 3, 4}}, {5, {6, 7, 8}}, {9, {10, 11, 12}}};
    const double *weights = (const double[]){0.5, 1.5, 2.5, 3.5};
    out[i] = 100 * bits[i % 16] + pairs[i % 3].b[i % 2] + (int)(2 * weights[i % 4]);
  }
  long sum = 0;
  for (int i = 0; i < N; i++) sum = (sum * 31 + out[i]) % 1000003;
  printf("tables %ld\n", sum);
}

static void copies(void) {
  best all[8];
  for (int i = 0; i < 8; i++) all[i] = (best){i, i, {i, 2 * i, 3 * i}};
  double out[64];
#pragma omp target teams distribute parallel for map(to : all) map(from : out)
  for (int i = 0; i < 64; i++) {
    best own = all[i % 8], other = i % 2 ? own : all[0];
    out[i] = other.more[i % 3] + own.more[(i + 1) % 3];
  }
  double sum = 0;
  for (int i = 0; i < 64; i++) sum += out[i] * i;
  printf("copies %g\n", sum);
}

static void reductions(void) {
  double x[N];
  for (int i = 0; i < N; i++) x[i] = i * 7919 % 1009;
  best found = {-1, -1, {0}};
#pragma omp target teams distribute parallel for map(to : x) map(tofrom : found) reduction(better : found)
  for (int i = 0; i < N; i++) found = better(found, (best){x[i], i, {0}});
  printf("best %g at %d\n", found.value, found.at);
  best within = {-1, -1, {0}};
#pragma omp target parallel for map(to : x) map(tofrom : within) reduction(better : within)
  for (int i = 0; i < N; i++) within = better(within, (best){-x[i], i, {0}});
  printf("least %g at %d\n", within.value, within.at);
}

static void arguments(void) {
  long sum = 0;
#pragma omp target parallel for map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += taken(i % 7, (long)i, i * 3, i * 0.5, (long)(i + 1), 7, 2.5, 9L);
  printf("arguments %ld\n", sum);
}

int main(void) {
  tables();
  copies();
  reductions();
  arguments();
  return 0;
}
