// A team hands a value on to others by a flag: written with release and read with acquire, or by a relaxed one.
// with: openmp
// options: -O1 -g -fopenmp-version=51
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int flag = 0, value = 0, got = 0;
#pragma omp target teams num_teams(2) thread_limit(1) map(tofrom: flag, value, got)
  {
    if (omp_get_team_num() == 0) {
      value = 42; // finds
#ifdef WRONG
#pragma omp atomic write relaxed
#else
#pragma omp atomic write release
#endif
      flag = 1;
    } else {
      int seen = 0;
      while (!seen) {
#ifdef WRONG
#pragma omp atomic read relaxed
#else
#pragma omp atomic read acquire
#endif
        seen = flag;
      }
      got = value; // finds
    }
  }
  printf("%d\n", got);
  return 0;
}
