// The second variable is larger than what can be handed over.
#include "check.h"

int main(void) {
  int result = 0;
#pragma omp target map(tofrom : result)
#pragma omp parallel num_threads(2)
  {
    int small = 0;
    char large[100000];
    large[0] = 1;
#pragma omp single copyprivate(small, large)
    for (int i = 0; i < 100000; ++i)
      large[i] = 2;
    if (omp_get_thread_num() == 1)
      result = large[99999] + small;
  }
  CHECK(result, 2);
  return finish();
}
