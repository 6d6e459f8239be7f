// Elements that are chosen go to the next place of a list: the counter is captured atomically, or read behind its update.
// with: openmp
#include <stdio.h>

enum { N = 2000 };

int main(void)
{
  int chosen[N], count = 0;
  for (int i = 0; i < N; ++i)
    chosen[i] = -1;
#pragma omp target teams distribute parallel for map(tofrom: chosen, count)
  for (int i = 0; i < N; ++i)
    if (i * 37 % 11 < 3) {
      int place;
#ifdef WRONG
#pragma omp atomic update
      count += 1;
      place = count - 1; // finds
#else
#pragma omp atomic capture
      place = count++;
#endif
      chosen[place] = i;
    }
  printf("%d\n", count);
  return 0;
}
