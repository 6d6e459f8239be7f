// Ordered regions run in the order of the iterations.
#include "check.h"

int main(void) {
  int order[100], next = 0, wrong = 0;
#pragma omp target map(from : order) map(tofrom : next, wrong)
#pragma omp parallel num_threads(10)
  {
#pragma omp for ordered schedule(static, 3)
    for (int i = 0; i < 100; ++i) {
#pragma omp ordered
      order[next++] = i;
    }
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp ordered
      if (order[i] != i)
        wrong++;
    }
  }
  CHECK(next, 100);
  CHECK(wrong, 0);
  for (int i = 0; i < 100; ++i)
    CHECK(order[i], i);
  return finish();
}
