/* How regions are launched: teams, threads, lanes; reductions; many at a time. */
#include "check.h"
#include <omp.h>

enum { N = 10000 };

static void shapes(void)
{
  int teams = 0, threads = 0, seen[3] = {0};
#pragma omp target map(from : teams, threads)
  teams = omp_get_num_teams(), threads = omp_get_num_threads();
  CHECK(teams == 1 && threads == 1);
#pragma omp target teams num_teams(3) thread_limit(4) map(from : teams) map(tofrom : seen)
  {
    if (omp_get_team_num() == 0)
      teams = omp_get_num_teams();
    int team = omp_get_team_num();
#pragma omp parallel
    if (omp_get_thread_num() == 0)
      seen[team] = omp_get_num_threads();
  }
  CHECK(teams == 3 && seen[0] == 4 && seen[1] == 4 && seen[2] == 4);
#pragma omp target parallel map(from : threads) num_threads(5)
  if (omp_get_thread_num() == 0)
    threads = omp_get_num_threads();
  CHECK(threads == 5);
}

static void loops(void)
{
  static double a[N], b[N];
  double sum = 0;
  long count = 0;
#pragma omp target teams distribute parallel for simd map(from : a, b)
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = 2 * i;
#pragma omp target teams distribute parallel for map(to : a, b) reduction(+ : sum)
  for (int i = 0; i < N; i++)
    sum += a[i] * b[i];
#pragma omp target teams distribute parallel for reduction(+ : count)
  for (int i = 0; i < N; i++)
    count++;
  CHECK(sum == 666566670000.0 && count == N);
#pragma omp target parallel for simd map(tofrom : a) schedule(static, 7)
  for (int i = 0; i < N; i++)
    a[i] += b[0] + 1;
  CHECK(a[0] == 1 && a[N - 1] == N);
}

static void from_threads(void)
{
  static int list[16][200];
#pragma omp parallel for num_threads(4)
  for (int row = 0; row < 16; row++)
    for (int round = 0; round < 5; round++) {
#pragma omp target teams distribute parallel for map(tofrom : list[row])
      for (int i = 0; i < 200; i++)
        list[row][i] += row;
    }
  for (int row = 0; row < 16; row++)
    CHECK(list[row][0] == 5 * row && list[row][199] == 5 * row);
}

int main(void)
{
  shapes();
  loops();
  from_threads();
  puts("passed");
}
