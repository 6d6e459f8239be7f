// Numbers of teams and threads, in SPMD and generic kernels.
#include "check.h"

int main(void) {
  int teams[8] = {0}, sizes[8] = {0}, limit = 0;
#pragma omp target teams num_teams(5) thread_limit(64) map(tofrom : teams, sizes, limit)
  {
    teams[omp_get_team_num()]++;
    if (omp_get_team_num() == 0)
      limit = omp_get_thread_limit();
#pragma omp parallel
    if (omp_get_thread_num() == 0)
      sizes[omp_get_team_num()] = omp_get_num_threads() + 1000 * omp_get_num_teams();
  }
  // The main thread of a generic kernel has a warp, which counts for the limit.
  CHECK(limit == 64 || limit == 32, 1);
  for (int i = 0; i < 8; ++i) {
    CHECK(teams[i], i < 5);
    CHECK(sizes[i], i < 5 ? 5000 + limit : 0);
  }
  int threads = 0;
#pragma omp target teams num_teams(3) thread_limit(96) map(tofrom : threads)
#pragma omp parallel
  {
#pragma omp atomic
    threads++;
  }
  CHECK(threads == 3 * 96 || threads == 3 * 64, 1);
  int most = 0, fixed = 0;
#pragma omp target map(from : most, fixed) thread_limit(64)
  {
    most = omp_get_max_threads();
    omp_set_num_threads(9);
    int count = 0;
#pragma omp parallel
    {
#pragma omp atomic
      count++;
    }
    fixed = count * 100 + omp_get_max_threads();
  }
  CHECK(most == 64 || most == 32, 1);
  CHECK(fixed, 909);
  return finish();
}
