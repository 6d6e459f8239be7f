/* The dot product of two vectors. */
#include "../openacc/timing.h"

enum { LENGTH = 1 << 20 };

static double left[LENGTH], right[LENGTH], product;

static void prepare(void) {
  for (int i = 0; i < LENGTH; ++i) {
    left[i] = random_number();
    right[i] = random_number();
  }
}

static void check(void) {
  double expected = 0;
  for (int i = 0; i < LENGTH; ++i)
    expected += left[i] * right[i];
  require_near(product, expected, 1e-9);
}

static void enter(void) {
#pragma omp target enter data map(to : left, right)
}

static void run(void) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < LENGTH; ++i)
    sum += left[i] * right[i];
  product = sum;
}

static void leave(void) {
#pragma omp target exit data map(release : left, right)
}
