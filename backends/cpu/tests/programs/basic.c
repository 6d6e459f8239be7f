/* Kernels and globals for tests of loading and launching. */
#include <omp.h>

int counter = 5;
double table[4] = {1, 2, 3, 4};
#pragma omp declare target(counter, table)

int fallback(void)
{
  int x = 0, teams = 0, threads = 0, a[10];
#pragma omp target map(tofrom : x)
  x += counter++;
#pragma omp target teams num_teams(3) thread_limit(2) map(from : teams, threads)
#pragma omp parallel
  if (omp_get_team_num() == 0 && omp_get_thread_num() == 0) {
    teams = omp_get_num_teams();
    threads = omp_get_num_threads();
  }
#pragma omp target teams distribute parallel for map(from : a)
  for (int i = 0; i < 10; i++)
    a[i] = i * i;
  return x + teams + threads + a[3] + (int)table[1];
}

int main(void) { return fallback(); }
