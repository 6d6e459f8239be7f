// A pointer in memory that nothing has written.
// with: openmp
// options: -O0 -g
#include <stdio.h>

int main(void)
{
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
#pragma omp target map(tofrom: values, sum)
  {
    int *places[8];
#ifdef WRONG
    for (int i = 0; i < 7; ++i)
#else
    for (int i = 0; i < 8; ++i)
#endif
      places[i] = &values[i];
    for (int i = 0; i < 8; ++i)
      sum += *places[i]; // finds: an address
  }
  printf("%d\n", sum);
  return 0;
}
