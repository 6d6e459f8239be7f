/* A bitonic sort: partners are far apart at first, then in one row. */
#include "../openacc/timing.h"

enum { LENGTH = 1 << 16 };

static unsigned keys[LENGTH], sorted[LENGTH];

static void prepare(void) {
  for (int i = 0; i < LENGTH; ++i)
    keys[i] = random_bits();
}

static int by_value(const void *left, const void *right) {
  unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
  return (a > b) - (a < b);
}

static void check(void) {
  qsort(keys, LENGTH, sizeof *keys, by_value);
  if (memcmp(keys, sorted, sizeof keys) != 0) {
    fprintf(stderr, "benchmark is wrong: the keys are not sorted\n");
    exit(1);
  }
}

static void enter(void) {
#pragma omp target enter data map(to : keys) map(alloc : sorted)
}

static void run(void) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < LENGTH; ++i)
    sorted[i] = keys[i];
  for (int run = 2; run <= LENGTH; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < LENGTH; ++i) {
        int partner = i ^ distance;
        unsigned a = sorted[i], b = sorted[partner];
        if (i < partner && (a > b) == ((i & run) == 0)) {
          sorted[i] = b;
          sorted[partner] = a;
        }
      }
    }
}

static void leave(void) {
#pragma omp target exit data map(from : sorted) map(release : keys)
}
