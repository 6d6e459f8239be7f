// covers: target teams, num_teams, team numbers, private data per team, num_teams from an expression
#include <omp.h>
#include <stdio.h>

int main(void) {
  int seen[8] = {0}, teams = 0, n = 5;
#pragma omp target teams num_teams(n) map(tofrom : seen) map(from : teams)
  {
    int me = omp_get_team_num();
    if (me == 0) teams = omp_get_num_teams();
    if (me < 8) seen[me] = 100 + me;
  }
  printf("at most as asked: %d\n", teams >= 1 && teams <= 5);
  int good = 0;
  for (int i = 0; i < 8; i++) good += seen[i] == (i < teams ? 100 + i : 0);
  printf("%d\n", good);
  int one = 0;
#pragma omp target teams num_teams(1) map(tofrom : one)
  one += omp_get_num_teams();
  printf("%d\n", one);
  int sum = 0;
#pragma omp target teams num_teams(4) reduction(+ : sum)
  sum += (omp_get_team_num() + 1) * 60 / omp_get_num_teams() / (omp_get_num_teams() + 1);
  printf("%d\n", sum <= 60);
  return 0;
}
