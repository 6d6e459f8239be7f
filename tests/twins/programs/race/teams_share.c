// Teams write to one place: nothing orders teams.
// with: openmp gcc
#include <stdio.h>
#include <omp.h>

int main(void)
{
  int last[64] = {0};
#pragma omp target teams num_teams(8) map(tofrom: last)
  {
    int team = omp_get_team_num();
#ifdef WRONG
    last[0] = team; // finds: threads of two blocks
#else
    last[team] = team;
#endif
  }
  printf("%d\n", last[0] >= 0);
  return 0;
}
