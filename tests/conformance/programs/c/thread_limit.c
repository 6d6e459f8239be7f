// covers: thread_limit on target and teams, num_threads in a region, omp_get_thread_limit
#include <omp.h>
#include <stdio.h>

int main(void) {
  int limit = 0, most = 0, threads = 0;
#pragma omp target teams num_teams(2) thread_limit(3) map(tofrom : limit, most)
  {
#pragma omp parallel num_threads(8)
    {
#pragma omp single
      if (omp_get_team_num() == 0) {
        limit = omp_get_thread_limit();
        most = omp_get_num_threads();
      }
    }
  }
  printf("%d %d\n", limit, most <= 3 && most >= 1);
#pragma omp target parallel num_threads(2) map(from : threads)
#pragma omp single
  threads = omp_get_num_threads();
  printf("%d\n", threads);
#pragma omp target parallel thread_limit(2) map(from : threads)
#pragma omp single
  threads = omp_get_num_threads();
  printf("%d\n", threads <= 2);
  return 0;
}
