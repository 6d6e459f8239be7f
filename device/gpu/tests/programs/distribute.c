// Loops over teams, and over teams and threads: each iteration once, and lastprivate the last one.
#include "check.h"

enum { N = 10000 };

int main(void) {
  int *seen = calloc(N, sizeof *seen);
#define RESET(value)                                                                           \
  for (int i = 0; i < N; ++i) {                                                                \
    CHECK(seen[i], value);                                                                     \
    seen[i] = 0;                                                                               \
  }
#pragma omp target teams distribute parallel for map(tofrom : seen[:N])
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target teams distribute parallel for map(tofrom : seen[:N]) num_teams(7) thread_limit(32)
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target teams distribute parallel for map(tofrom : seen[:N]) schedule(dynamic, 3)
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target teams distribute parallel for dist_schedule(static, 100) schedule(static, 2)        \
    map(tofrom : seen[:N]) num_teams(3)
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : seen[:N])
  for (long i = 0; i < N / 100; ++i)
    for (long j = 0; j < 100; ++j)
      seen[i * 100 + j]++;
  RESET(1)
#pragma omp target teams distribute map(tofrom : seen[:N]) num_teams(4)
  for (int i = 0; i < N / 100; ++i) {
#pragma omp parallel for
    for (int j = 0; j < 100; ++j)
      seen[i * 100 + j]++;
  }
  RESET(1)
#pragma omp target teams distribute simd map(tofrom : seen[:N])
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target teams loop map(tofrom : seen[:N])
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
#pragma omp target parallel for map(tofrom : seen[:N])
  for (int i = 0; i < N; ++i)
    seen[i]++;
  RESET(1)
  int last = -1;
#pragma omp target teams distribute parallel for lastprivate(last) map(tofrom : last)
  for (int i = 0; i < N; ++i)
    last = i * 3;
  CHECK(last, (N - 1) * 3);
  last = -1;
#pragma omp target parallel for lastprivate(last) map(tofrom : last)
  for (int i = 0; i < N; ++i)
    last = i * 5;
  CHECK(last, (N - 1) * 5);
  free(seen);
  return finish();
}
