// Memory of the device's heap.
// with: openmp
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int result = 0;
#pragma omp target map(tofrom: result)
  {
    int *list = (int *)malloc(16 * sizeof(int));
#ifndef WRONG
    list[9] = 4;
#endif
    list[8] = 3;
    if (list[9] > list[8]) // finds
      result = 1;
    free(list);
  }
  printf("%d\n", result);
  return 0;
}
