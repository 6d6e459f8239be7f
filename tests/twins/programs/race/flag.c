// A message from one team to another: the flag needs a fence on either side.
// with: openmp
#include <stdio.h>
#include <omp.h>

int main(void)
{
  int data = 0, flag = 0, got = -1;
#pragma omp target teams num_teams(2) thread_limit(32) map(tofrom: data, flag, got)
  {
    if (omp_get_team_num() == 0) {
      data = 42;
#ifdef WRONG
#pragma omp atomic write relaxed
#else
#pragma omp atomic write release
#endif
      flag = 1;
    } else {
      int seen = 0;
      for (int tries = 0; tries < 1000000 && !seen; ++tries) {
#ifdef WRONG
#pragma omp atomic read relaxed
#else
#pragma omp atomic read acquire
#endif
        seen = flag;
      }
      if (seen)
        got = data; // finds: threads of two blocks
    }
  }
  printf("%d\n", got == 42 || got == -1);
  return 0;
}
