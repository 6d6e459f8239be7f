// Reductions of constructs inside regions: in generic kernels, one after another without a barrier,
// in loops, sections and scopes, in regions that are serialised, and with simd.

#include "check.h"

static void generic(void) {
  double total = 0;
  long counts[20];
#pragma omp target teams distribute reduction(+ : total) map(from : counts) num_teams(6)
  for (int i = 0; i < 20; ++i) {
    double part = 0;
    int count = 0;
#pragma omp parallel for reduction(+ : part, count)
    for (int j = 0; j < 100; ++j) {
      part += j;
      count++;
    }
    counts[i] = count;
    total += part + i;
  }
  CHECK(total, 20 * 4950 + 190);
  for (int i = 0; i < 20; ++i)
    CHECK(counts[i], 100);
}

static void one_after_another(void) {
  long a = 0, b = 0, c = 0, inner = 0;
  int passes = 0;
#pragma omp target map(tofrom : a, b, c, inner, passes)
#pragma omp parallel
  {
#pragma omp for reduction(+ : a) nowait
    for (int i = 0; i < 1000; ++i)
      a += i;
#pragma omp for reduction(max : b) nowait
    for (int i = 0; i < 1000; ++i)
      b = b > i * 3 ? b : i * 3;
#pragma omp sections reduction(+ : c)
    {
#pragma omp section
      c += 1;
#pragma omp section
      c += 10;
#pragma omp section
      c += 100;
    }
#pragma omp single
    passes++;
    long mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (int i = 0; i < 10; ++i)
      mine += i;
#pragma omp atomic
    inner += mine == 45 ? 0 : 1;
  }
  CHECK(a, 499500);
  CHECK(b, 2997);
  CHECK(c, 111);
  CHECK(passes, 1);
  CHECK(inner, 0);
}

static void with_simd(void) {
  float sum = 0;
  int count = 0;
#pragma omp target teams distribute parallel for simd reduction(+ : sum, count)
  for (int i = 0; i < 4096; ++i) {
    sum += 0.5f;
    count++;
  }
  CHECK(sum, 2048);
  CHECK(count, 4096);
  long rows = 0;
#pragma omp target teams distribute parallel for reduction(+ : rows)
  for (int i = 0; i < 64; ++i) {
    int row = 0;
#pragma omp simd reduction(+ : row)
    for (int j = 0; j < 64; ++j)
      row += j;
    rows += row;
  }
  CHECK(rows, 64 * 2016);
}

static void conditions(void) {
  for (int condition = 0; condition < 2; ++condition) {
    long sum = 0;
#pragma omp target teams distribute parallel for if (parallel : condition) reduction(+ : sum)
    for (int i = 0; i < 5000; ++i)
      sum += i;
    CHECK(sum, 12497500);
  }
}

static void empty(void) {
  long sum = 7, none = 0;
  double low = 3;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(min : low)
  for (long i = 0; i < none; ++i) {
    sum += 1;
    low = -1;
  }
  CHECK(sum, 7);
  CHECK(low, 3);
}

int main(void) {
  generic();
  one_after_another();
  with_simd();
  conditions();
  empty();
  return finish();
}
