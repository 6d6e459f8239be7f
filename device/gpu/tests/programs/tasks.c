// Tasks run, with their own values and those that they share, and their loops too.
#include "check.h"

enum { N = 32 };

/// Reductions with the `task` modifier: the threads' tasks add to their threads' copies.
static void modified(void) {
  int region = 100, loop = 0, most = 5, league = 0, threads = 0;
#pragma omp target parallel reduction(task, + : region) map(tofrom : region, threads) num_threads(8)
  {
    region += 1;
#pragma omp single
    threads = omp_get_num_threads();
    for (int i = omp_get_thread_num(); i < N; i += omp_get_num_threads()) {
#pragma omp task in_reduction(+ : region) firstprivate(i)
      region += i;
    }
  }
#pragma omp target map(tofrom : loop, most)
#pragma omp parallel num_threads(4)
  {
#pragma omp for reduction(task, + : loop)
    for (int i = 0; i < N; ++i) {
      loop += 1;
#pragma omp task in_reduction(+ : loop) firstprivate(i)
      loop += 2 * i;
    }
#pragma omp sections reduction(task, max : most)
    {
#pragma omp section
      {
#pragma omp task in_reduction(max : most)
        most = most < 70 ? 70 : most;
      }
#pragma omp section
      {
#pragma omp task in_reduction(max : most)
        most = most < 60 ? 60 : most;
      }
    }
  }
#pragma omp target teams distribute parallel for reduction(task, + : league) map(tofrom : league)
  for (int i = 0; i < N; ++i) {
#pragma omp task in_reduction(+ : league) firstprivate(i)
    league += i;
  }
  CHECK(region, 100 + threads + N * (N - 1) / 2);
  CHECK(loop, N + N * (N - 1));
  CHECK(most, 70);
  CHECK(league, N * (N - 1) / 2);
}

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
  modified();
  return finish();
}
