// Every schedule runs each iteration once, for counters of all types, in regions and in serial code.
#include "check.h"

enum { N = 1000 };

#define LOOP(TYPE, SCHEDULE, FROM, CONDITION, STEP)                                            \
  do {                                                                                         \
    int seen[N] = {0};                                                                         \
    _Pragma("omp target map(tofrom : seen)") _Pragma("omp parallel num_threads(40)")           \
    {                                                                                          \
      PRAGMA(omp for SCHEDULE)                                                                 \
      for (TYPE i = FROM; CONDITION; STEP) {                                                   \
        _Pragma("omp atomic") seen[(int)i]++;                                                  \
      }                                                                                        \
    }                                                                                          \
    for (TYPE i = FROM; CONDITION; STEP)                                                       \
      seen[(int)i]--;                                                                          \
    for (int i = 0; i < N; ++i)                                                                \
      CHECK(seen[i], 0);                                                                       \
  } while (0)
#define PRAGMA(...) PRAGMA_(__VA_ARGS__)
#define PRAGMA_(...) _Pragma(#__VA_ARGS__)

#define SCHEDULES(TYPE, FROM, CONDITION, STEP)                                                 \
  do {                                                                                         \
    LOOP(TYPE, schedule(static), FROM, CONDITION, STEP);                                       \
    LOOP(TYPE, schedule(static, 3), FROM, CONDITION, STEP);                                    \
    LOOP(TYPE, schedule(dynamic), FROM, CONDITION, STEP);                                      \
    LOOP(TYPE, schedule(dynamic, 7), FROM, CONDITION, STEP);                                   \
    LOOP(TYPE, schedule(guided), FROM, CONDITION, STEP);                                       \
    LOOP(TYPE, schedule(guided, 5), FROM, CONDITION, STEP);                                    \
    LOOP(TYPE, schedule(runtime), FROM, CONDITION, STEP);                                      \
    LOOP(TYPE, schedule(auto), FROM, CONDITION, STEP);                                         \
    LOOP(TYPE, schedule(simd : static, 4), FROM, CONDITION, STEP);                             \
    LOOP(TYPE, schedule(nonmonotonic : dynamic), FROM, CONDITION, STEP);                       \
  } while (0)

int main(void) {
  SCHEDULES(int, 0, i < N, ++i);
  SCHEDULES(unsigned, 3, i < N - 5, i += 7);
  SCHEDULES(long, N - 1, i >= 0, i -= 3);
  SCHEDULES(unsigned long, 0, i < 1, ++i);

  // Serialised: one thread has the whole loop, also one inside of another.
  int count = 0;
#pragma omp target map(tofrom : count)
  {
    int sum = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 8; ++i) {
#pragma omp parallel
        {
#pragma omp for schedule(dynamic, 2)
          for (int j = 0; j < 10; ++j) {
#pragma omp atomic
            sum += i * 100 + j;
          }
        }
      }
    }
    count = sum;
  }
  CHECK(count, 28 * 100 * 10 + 8 * 45);

  // The schedule that `omp_set_schedule` sets is the one that loops get.
  int owner[64], kind = 0, chunk = 0;
#pragma omp target map(from : owner, kind, chunk)
  {
    omp_set_schedule(omp_sched_static, 4);
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(runtime)
      for (int i = 0; i < 64; ++i)
        owner[i] = omp_get_thread_num();
    }
    omp_sched_t now;
    omp_get_schedule(&now, &chunk);
    kind = now;
  }
  CHECK(kind, omp_sched_static);
  CHECK(chunk, 4);
  for (int i = 0; i < 64; ++i)
    CHECK(owner[i], i / 4 % 4);
  return finish();
}
