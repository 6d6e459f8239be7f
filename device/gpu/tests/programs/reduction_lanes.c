// Reductions wherever lanes of a warp could stand apart: teams and threads of all numbers, regions in branches and
// in functions, regions inside of regions, constructs with lanes of their own. In checked code each thread that
// reduces with others stands in its block where it stands in its region, so that those of a warp are its first lanes.
#include "check.h"

#pragma omp begin declare target
static long in_a_function(int n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += i;
  return sum;
}

static long lanes(int n) {
  long sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += i;
  return sum;
}
#pragma omp end declare target

static long triangle(long n) { return n * (n - 1) / 2; }

int main(void) {
  // Each number of threads, whole warps and parts of them, with and without the state machine.
  for (int threads = 1; threads <= 70; ++threads) {
    long generic = 0, spmd = 0;
#pragma omp target map(tofrom : generic) thread_limit(96)
    {
      long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
      for (int i = 0; i < 200; ++i)
        sum += i;
      generic = sum;
    }
#pragma omp target parallel for num_threads(threads) reduction(+ : spmd)
    for (int i = 0; i < 200; ++i)
      spmd += i;
    CHECK(generic, triangle(200));
    CHECK(spmd, triangle(200));
  }

  // Teams that go different ways into regions of different sizes, one of them not at all.
  long team[8] = {0};
#pragma omp target teams num_teams(8) thread_limit(96) map(tofrom : team)
  {
    int me = omp_get_team_num(), n = 10 * me;
    long sum = 0;
    if (me % 3 == 0) {
#pragma omp parallel for num_threads(1 + 5 * me) reduction(+ : sum)
      for (int i = 0; i < n; ++i)
        sum += i;
    } else if (me % 3 == 1) {
      sum = in_a_function(n);
    }
    team[me] = sum;
  }
  for (int i = 0; i < 8; ++i)
    CHECK(team[i], i % 3 == 2 ? 0 : triangle(10 * i));

  // Regions inside of a region, which every third thread enters: each is its thread's alone.
  long inner[70] = {0}, outer = 0;
#pragma omp target parallel num_threads(70) map(tofrom : inner) reduction(+ : outer)
  {
    int me = omp_get_thread_num();
    if (me % 3 == 1) {
      long sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum)
      for (int i = 0; i < me; ++i)
        sum += i;
      inner[me] = sum + in_a_function(me);
    }
    outer += me;
  }
  CHECK(outer, triangle(70));
  for (int i = 0; i < 70; ++i)
    CHECK(inner[i], i % 3 == 1 ? 2 * triangle(i) : 0);

  // Constructs with lanes: `simd` by itself, in branches, and with the loop of a team.
  long simd = 0, both = 0, loop = 0;
#pragma omp target parallel num_threads(45) map(tofrom : simd) reduction(+ : simd)
  simd += omp_get_thread_num() % 2 ? lanes(omp_get_thread_num()) : 0;
  long odd = 0;
  for (int i = 1; i < 45; i += 2)
    odd += triangle(i);
  CHECK(simd, odd);
#pragma omp target teams distribute parallel for simd num_teams(3) thread_limit(41) simdlen(8) reduction(+ : both)
  for (int i = 0; i < 1000; ++i)
    both += i;
  CHECK(both, triangle(1000));
#pragma omp target teams loop num_teams(3) thread_limit(41) reduction(+ : loop)
  for (int i = 0; i < 1000; ++i)
    loop += i;
  CHECK(loop, triangle(1000));

  // The other constructs of a region that reduce, some of whose threads have nothing to do.
  long sections = 0, scope = 0, worksharing = 0, first = 0, second = 0, third = 0;
#pragma omp target parallel num_threads(37) map(tofrom : sections, scope, worksharing)
  {
#pragma omp sections reduction(+ : sections)
    {
#pragma omp section
      sections += 1;
#pragma omp section
      sections += 2;
#pragma omp section
      sections += 4;
    }
#pragma omp scope reduction(+ : scope)
    scope += omp_get_thread_num();
#pragma omp for schedule(dynamic, 7) reduction(+ : worksharing)
    for (int i = 0; i < 50; ++i)
      worksharing += i;
  }
  CHECK(sections, 7);
  CHECK(scope, triangle(37));
  CHECK(worksharing, triangle(50));
  // A clause that leaves the region to one thread, or not.
  for (int alone = 0; alone < 2; ++alone) {
#pragma omp target parallel for num_threads(50) if (parallel : !alone) reduction(+ : first)
    for (int i = 0; i < 99; ++i)
      first += i;
#pragma omp target teams distribute parallel for num_teams(2 - alone) thread_limit(50) reduction(+ : second)
    for (int i = 0; i < 99; ++i)
      second += i;
  }
  CHECK(first, 2 * triangle(99));
  CHECK(second, 2 * triangle(99));
#pragma omp target teams num_teams(5) thread_limit(33) reduction(+ : third)
  {
    long sum = 0;
#pragma omp parallel for num_threads(omp_get_team_num() + 1) reduction(+ : sum)
    for (int i = 0; i < 77; ++i)
      sum += i;
    third += sum;
  }
  CHECK(third, 5 * triangle(77));
  return finish();
}
