// Teams that take a block each, whose ends overlap by one element.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

#ifdef WRONG
#define LAST(end) (end)
#else
#define LAST(end) ((end) - 1)
#endif

int main(void)
{
  enum { N = 400, TEAMS = 8 };
  int a[N + 1] = {0};
#pragma omp target teams num_teams(TEAMS) thread_limit(32) map(tofrom: a)
  {
    int first = omp_get_team_num() * (N / omp_get_num_teams());
    int end = first + N / omp_get_num_teams();
    for (int i = first; i <= LAST(end); ++i)
      a[i] += i; // finds
  }
  printf("%d\n", a[5]);
  return 0;
}
