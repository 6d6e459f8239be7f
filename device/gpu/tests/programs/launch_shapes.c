// Launches of unusual shapes, and loops with unusual bounds: each region is compared with the host.
#include "check.h"
#include <limits.h>
#include <stdint.h>

static long sum_of(long from, long to, long step) {
  long sum = 0;
  for (long i = from; step > 0 ? i < to : i > to; i += step) sum += i % 1009;
  return sum;
}

static void bounds(void) {
  long s = 0;
  // The last iterations before the type ends, upwards and downwards.
#pragma omp target teams distribute parallel for reduction(+ : s)
  for (int i = INT_MAX - 100; i < INT_MAX; ++i) s += i % 1009;
  CHECK(s, sum_of(INT_MAX - 100, INT_MAX, 1));
  s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) num_teams(3) num_threads(33)
  for (int i = INT_MIN + 90; i > INT_MIN; i -= 7) s += i % 1009;
  CHECK(s, sum_of(INT_MIN + 90L, INT_MIN, -7));
  s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) schedule(static, 1)
  for (int64_t i = INT64_MAX - 50; i < INT64_MAX; i += 3) s += i % 1009;
  long e = 0;
  for (int k = 0; k < 17; ++k) e += (INT64_MAX - 50 + 3L * k) % 1009;
  CHECK(s, e);
  // Nearly the whole type in few steps: the distance does not fit the type. Distance and step together
  // have to fit 32 bits, or clang counts wrongly on any device.
  s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s)
  for (int i = INT_MIN; i < INT_MAX - 200000000; i += 100000007) s += i % 1009;
  CHECK(s, sum_of(INT_MIN, INT_MAX - 200000000, 100000007));
  s = 0;
#pragma omp target parallel for reduction(+ : s) schedule(dynamic, 2)
  for (unsigned i = UINT_MAX - 500000000; i > 5u; i -= 429496729u) s += i % 1009;
  CHECK(s, sum_of(UINT_MAX - 500000000, 5, -429496729L));
  s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s) dist_schedule(static, 2)
  for (uint64_t i = UINT64_MAX; i > UINT64_MAX - 40; i -= 4) s += (long)(i % 1009);
  e = 0;
  for (int k = 0; k < 10; ++k) e += (long)((UINT64_MAX - 4ul * k) % 1009);
  CHECK(s, e);
  s = 0;
#pragma omp target teams distribute parallel for reduction(+ : s)
  for (unsigned char c = 250; c > 3; c -= 5) s += c;
  e = 0;
  for (int c = 250; c > 3; c -= 5) e += c;
  CHECK(s, e);
  // Without an iteration, and with one.
  int zero = 0, last = -1;
#pragma omp target teams distribute parallel for lastprivate(last) map(tofrom : last)
  for (int i = 0; i < zero; ++i) last = i;
  CHECK(last, -1);
#pragma omp target teams distribute parallel for lastprivate(last) map(tofrom : last) num_teams(50)
  for (int i = 41; i <= 41; ++i) last = i;
  CHECK(last, 41);
}

static void nests(void) {
  long s = 0, e = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : s) num_teams(5)
  for (int i = 0; i < 60; ++i)
    for (int j = i; j < 60; ++j) s += i * 100 + j;
  for (int i = 0; i < 60; ++i)
    for (int j = i; j < 60; ++j) e += i * 100 + j;
  CHECK(s, e);
  s = e = 0;
#pragma omp target parallel for collapse(2) reduction(+ : s) schedule(dynamic, 3) num_threads(70)
  for (int i = 20; i > 0; i -= 3)
    for (int j = -i; j <= 2 * i + 1; j += 2) s += i * 1000 + j;
  for (int i = 20; i > 0; i -= 3)
    for (int j = -i; j <= 2 * i + 1; j += 2) e += i * 1000 + j;
  CHECK(s, e);
  s = e = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+ : s)
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < i; ++j)
      for (int k = j; k < 12; ++k) s += (i * 20 + j) * 20 + k;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < i; ++j)
      for (int k = j; k < 12; ++k) e += (i * 20 + j) * 20 + k;
  CHECK(s, e);
  s = e = 0;
#pragma omp target teams distribute parallel for collapse(5) reduction(+ : s) thread_limit(96)
  for (int a = 0; a < 3; ++a)
    for (unsigned b = 7; b > 2; b -= 2)
      for (long c = -2; c < 3; ++c)
        for (short d = 0; d < 4; d += 3)
          for (int f = 5; f >= 0; --f) s += (((a * 10 + b) * 10 + c) * 10 + d) * 10 + f;
  for (int a = 0; a < 3; ++a)
    for (unsigned b = 7; b > 2; b -= 2)
      for (long c = -2; c < 3; ++c)
        for (short d = 0; d < 4; d += 3)
          for (int f = 5; f >= 0; --f) e += (((a * 10 + b) * 10 + c) * 10 + d) * 10 + f;
  CHECK(s, e);
  // An inner loop without iterations.
  s = 0;
  int zero = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+ : s)
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < zero; ++j) s++;
  CHECK(s, 0);
}

enum { N = 3000 };
static int count[N];

#define EACH_ONCE(...)                                                                           \
  {                                                                                              \
    for (int i = 0; i < N; ++i) count[i] = i;                                                    \
    _Pragma(#__VA_ARGS__) for (int i = 0; i < N; ++i) count[i] += 1;                             \
    int wrong = 0;                                                                               \
    for (int i = 0; i < N; ++i) wrong += count[i] != i + 1;                                      \
    CHECK(wrong, 0);                                                                             \
  }

static void schedules(void) {
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(nonmonotonic : dynamic))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(monotonic : dynamic, 7))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(guided, 11))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(simd : static, 5))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(runtime))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) schedule(auto) num_teams(13))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) order(concurrent))
  EACH_ONCE(omp target teams distribute parallel for simd map(tofrom : count) simdlen(8) safelen(16))
  EACH_ONCE(omp target teams distribute map(tofrom : count) dist_schedule(static, 1) num_teams(100))
  EACH_ONCE(omp target teams distribute parallel for map(tofrom : count) dist_schedule(static, 5000))
  EACH_ONCE(omp target parallel for map(tofrom : count) schedule(static, 5000) num_threads(33))
  EACH_ONCE(omp target parallel for map(tofrom : count) schedule(guided) num_threads(1))
  EACH_ONCE(omp target parallel for map(tofrom : count) schedule(dynamic, 2000) num_threads(1000))
  EACH_ONCE(omp target teams loop map(tofrom : count) thread_limit(40) num_teams(2))
  EACH_ONCE(omp target map(tofrom : count))
  EACH_ONCE(omp target simd map(tofrom : count))
  EACH_ONCE(omp target teams distribute simd map(tofrom : count) num_teams(9))
}

static void grids(void) {
  int teams = 0, threads = 0, seen = 0;
#pragma omp target teams num_teams(1) thread_limit(1024) map(from : teams, threads)
#pragma omp parallel num_threads(1024)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) {
    teams = omp_get_num_teams();
    threads = omp_get_num_threads();
  }
  CHECK(teams, 1);
  CHECK(threads >= 1 && threads <= 1024, 1);
  // More teams than the processor has room for at a time.
#pragma omp target teams num_teams(65536) thread_limit(1) map(tofrom : seen) map(from : teams)
  {
#pragma omp atomic
    seen++;
    if (omp_get_team_num() == omp_get_num_teams() - 1) teams = omp_get_num_teams();
  }
  CHECK(seen, teams);
  CHECK(teams >= 1 && teams <= 65536, 1);
  for (int wanted = 31; wanted <= 129; wanted += 14) {
    long s = 0;
    int most = 0;
#pragma omp target parallel num_threads(wanted) reduction(+ : s) map(from : most)
    {
      s += omp_get_thread_num();
      if (omp_get_thread_num() == 0) most = omp_get_num_threads();
    }
    CHECK(s, most * (most - 1L) / 2);
    CHECK(most >= 1 && most <= wanted, 1);
  }
  for (int limit = 1; limit <= 70; limit += 23) {
    int largest = 0;
#pragma omp target teams num_teams(3) thread_limit(limit) reduction(max : largest)
#pragma omp parallel reduction(max : largest)
    largest = omp_get_num_threads();
    CHECK(largest >= 1 && largest <= limit, 1);
  }
}

int main(void) {
  bounds();
  nests();
  schedules();
  grids();
  return finish();
}
