// An array of a team, of which threads read what no thread has written yet.
// with: openmp
#include <stdio.h>

int main(void)
{
  int big[64] = {0};
#pragma omp target teams num_teams(2) map(tofrom: big)
  {
    int own[64];
#pragma omp parallel num_threads(64)
    {
#pragma omp for
#ifdef WRONG
      for (int i = 0; i < 32; ++i)
#else
      for (int i = 0; i < 64; ++i)
#endif
        own[i] = i;
#pragma omp for
      for (int i = 0; i < 64; ++i)
        if (own[63 - i] > 20) // finds
          big[i] = 1;
    }
  }
  printf("%d\n", big[7]);
  return 0;
}
