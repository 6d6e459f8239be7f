// Variables that an SPMD kernel's teams have outside of their regions: all threads of a team get one memory
// for each, in shared memory or in the heap, and none changes it before all have given it its first value.
#include "check.h"

static const int COUNTS[] = {1, 10, 33, 70, 128, 129, 1000};

template <int N> struct Values {
  int at[N];
  Values() {
    for (int index = 0; index < N; ++index)
      at[index] = -1;
  }
};

template <int N> static void last_value(int count) {
  Values<N> large;
  Values<4> small;
  int scalar = 77;
#pragma omp target teams distribute parallel for map(tofrom : large, small, scalar) num_teams(3)                 \
    lastprivate(large, small, scalar)
  for (int i = 0; i < count; ++i) {
    for (int at = 0; at < N; ++at)
      large.at[at] = i + at;
    for (int at = 0; at < 4; ++at)
      small.at[at] = i - at;
    scalar = i;
  }
  for (int at = 0; at < N; ++at)
    CHECK(large.at[at], count - 1 + at);
  for (int at = 0; at < 4; ++at)
    CHECK(small.at[at], count - 1 - at);
  CHECK(scalar, count - 1);
}

// Launches of one kernel that run at the same time have each their own.
static void concurrent() {
  static Values<1000> results[8];
#pragma omp parallel for num_threads(4)
  for (int launch = 0; launch < 8; ++launch) {
    Values<1000> values;
#pragma omp target teams distribute parallel for map(tofrom : values) lastprivate(values) num_teams(2)
    for (int i = 0; i < 200; ++i)
      for (int at = 0; at < 1000; ++at)
        values.at[at] = launch * 1000 + i + at;
    results[launch] = values;
  }
  for (int launch = 0; launch < 8; ++launch)
    for (int at = 0; at < 1000; ++at)
      CHECK(results[launch].at[at], launch * 1000 + 199 + at);
}

// A team's partial sums that are larger than its part of shared memory.
static void sums(int count) {
  double sums[300] = {0};
#pragma omp target teams distribute parallel for map(tofrom : sums) reduction(+ : sums) num_teams(3) thread_limit(64)
  for (int i = 0; i < count; ++i)
    for (int at = 0; at < 300; ++at)
      sums[at] += i + at;
  for (int at = 0; at < 300; ++at)
    CHECK(sums[at], (long)count * (count - 1) / 2 + (long)count * at);
}

int main() {
  for (int count : COUNTS) {
    last_value<4>(count);
    last_value<600>(count);
    sums(count);
  }
  concurrent();
  return finish();
}
