// A flag that is computed of something that nothing has written: one of its bits is undefined.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int data[100], big = 0;
#ifdef WRONG
#pragma omp target enter data map(alloc: data)
#else
  for (int i = 0; i < 100; ++i)
    data[i] = i;
#pragma omp target enter data map(to: data)
#endif
#pragma omp target map(from: big)
  big = data[5] > 3; // finds
#pragma omp target exit data map(release: data)
  printf("%d\n", 0 * big);
  return 0;
}
