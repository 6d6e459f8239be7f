// covers: OMP_NUM_TEAMS and OMP_TEAMS_THREAD_LIMIT
// env: OMP_NUM_TEAMS=3
// env: OMP_TEAMS_THREAD_LIMIT=2
#include <omp.h>
#include <stdio.h>

int main(void) {
  int teams = 0, threads = 0;
#pragma omp target teams map(tofrom : teams, threads)
  {
#pragma omp parallel
#pragma omp single
    if (omp_get_team_num() == 0) {
      teams = omp_get_num_teams();
      threads = omp_get_num_threads();
    }
  }
  printf("%d %d\n", teams <= 3, threads <= 2);
  printf("%d %d\n", omp_get_max_teams(), omp_get_teams_thread_limit());
  return 0;
}
