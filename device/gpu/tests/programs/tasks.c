// Tasks run, with their own values and those that they share, and their loops too.
#include "check.h"

enum { N = 32 };

int main(void) {
  int values[N] = {0}, loop[N] = {0}, sum = 0, fib = 0, last = -1, reduced = 0;
#pragma omp target map(tofrom : values, loop, sum, fib, last, reduced)
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    int total = 0;
    for (int i = 0; i < N; ++i) {
#pragma omp task firstprivate(i) shared(total) depend(inout : total)
      {
        values[i] = i * i;
        total += i;
      }
    }
#pragma omp taskwait
    sum = total;
#pragma omp taskgroup
    {
      int a = 0, b = 0;
#pragma omp task shared(a) if (0)
      a = 8;
#pragma omp task shared(b) untied mergeable
      b = 5;
#pragma omp taskwait
      fib = a + b;
    }
#pragma omp taskloop grainsize(5)
    for (int i = 0; i < N; ++i)
      loop[i]++;
    int at = 0;
#pragma omp taskloop lastprivate(at)
    for (int i = 0; i < N; ++i)
      at = i;
    last = at;
    int r = 100;
#pragma omp taskgroup task_reduction(+ : r)
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : r) firstprivate(i)
        r += i;
      }
    }
    reduced = r;
#pragma omp taskyield
  }
  for (int i = 0; i < N; ++i) {
    CHECK(values[i], i * i);
    CHECK(loop[i], 1);
  }
  CHECK(sum, N * (N - 1) / 2);
  CHECK(fib, 13);
  CHECK(last, N - 1);
  CHECK(reduced, 145);
  return finish();
}
