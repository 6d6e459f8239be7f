// What the thread of a `single` has computed goes to all threads of its team.
#include "check.h"

struct pair {
  int left;
  double right[5];
};

int main(void) {
  int sums[40];
  double parts[40];
#pragma omp target map(from : sums, parts)
#pragma omp parallel num_threads(40)
  {
    int value = omp_get_thread_num();
    struct pair pair = {value, {0}};
#pragma omp single copyprivate(value, pair)
    {
      value = 77;
      pair.left = 5;
      for (int i = 0; i < 5; ++i)
        pair.right[i] = i * 0.5;
    }
    sums[omp_get_thread_num()] = value + pair.left;
    parts[omp_get_thread_num()] = pair.right[4] + pair.right[1];
  }
  for (int i = 0; i < 40; ++i) {
    CHECK(sums[i], 82);
    CHECK(parts[i] * 10, 25);
  }
  return finish();
}
