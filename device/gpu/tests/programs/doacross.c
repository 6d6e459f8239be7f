// Iterations wait for those that they name, in loops of one and more dimensions, under every schedule, and not for
// those that there are not.
#include "check.h"

enum { N = 24, M = 17 };

static long element(long (*table)[M], int i, int j) {
  long above = i && j + 1 < M ? table[i - 1][j + 1] : 1;
  return (above * 3 + (j ? table[i][j - 1] : i)) % 1000003;
}
#pragma omp declare target to(element)

/// A table whose elements need their neighbours. Some neighbours are beyond the edges.
static void tables(omp_sched_t kind, int chunk, int threads) {
  long table[N][M], expected[N][M];
  int used = 0;
#pragma omp target map(from : table) map(tofrom : used)
  {
    omp_set_schedule(kind, chunk);
#pragma omp parallel num_threads(threads)
    {
#pragma omp single
      used = omp_get_num_threads();
#pragma omp for ordered(2) schedule(runtime)
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < M; ++j) {
#pragma omp ordered depend(sink : i - 1, j + 1) depend(sink : i, j - 1)
          table[i][j] = element(table, i, j);
#pragma omp ordered depend(source)
        }
    }
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j) {
      expected[i][j] = element(expected, i, j);
      CHECK(table[i][j], expected[i][j]);
    }
  CHECK(used, threads);
}

/// Chains down and up, with steps, one behind the other without a barrier, in every team of a league.
static void chains(void) {
  enum { TEAMS = 3, LENGTH = 100 };
  unsigned down[TEAMS][LENGTH] = {{0}}, up[TEAMS][LENGTH] = {{0}};
#pragma omp target teams num_teams(TEAMS) thread_limit(64) map(tofrom : down, up)
#pragma omp parallel num_threads(50)
  {
    int team = omp_get_team_num();
    for (int round = 0; round < 3; ++round) {
#pragma omp for ordered(1) schedule(dynamic, 2) nowait
      for (int i = LENGTH - 2; i >= 0; i -= 2) {
#pragma omp ordered depend(sink : i + 2) depend(sink : i + 6)
        down[team][i] = (i + 2 < LENGTH ? down[team][i + 2] : 1) * 3 + team + round;
#pragma omp ordered depend(source)
      }
#pragma omp for ordered(1) schedule(static, 3) nowait
      for (long long i = 0; i < LENGTH; i += 1) {
#pragma omp ordered depend(sink : i - 1)
        up[team][i] = (i ? up[team][i - 1] : 2) * 5 + team + round;
#pragma omp ordered depend(source)
      }
    }
  }
  for (int team = 0; team < TEAMS; ++team) {
    unsigned value = 1;
    for (int i = LENGTH - 2; i >= 0; i -= 2) {
      value = value * 3 + team + 2;
      CHECK(down[team][i], value);
    }
    value = 2;
    for (int i = 0; i < LENGTH; ++i) {
      value = value * 5 + team + 2;
      CHECK(up[team][i], value);
    }
  }
}

/// One thread runs the loop: nobody is waited for. An empty loop has nothing to wait for.
static void alone(int trips) {
  int sum = 0, empty = 0;
#pragma omp target map(tofrom : sum, empty)
  {
#pragma omp parallel for ordered(1) num_threads(1)
    for (int i = 0; i < 10; ++i) {
#pragma omp ordered depend(sink : i - 1)
      sum = sum * 2 + i;
#pragma omp ordered depend(source)
    }
#pragma omp parallel for ordered(2) num_threads(8)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < trips; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
        empty = 1;
#pragma omp ordered depend(source)
      }
  }
  CHECK(sum, 1013);
  CHECK(empty, 0);
}

int main(int count, char **arguments) {
  (void)arguments;
  tables(omp_sched_static, 0, 8);
  tables(omp_sched_static, 1, 33);
  tables(omp_sched_static, 5, 32);
  tables(omp_sched_dynamic, 1, 24);
  tables(omp_sched_dynamic, 3, 64);
  tables(omp_sched_guided, 1, 7);
  chains();
  alone(count - 1);
  return finish();
}
