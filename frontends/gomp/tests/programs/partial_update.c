// Updates of what is mapped, of what is not, and of a section that is mapped in part.

#include "check.h"
#include <omp.h>
#include <stdio.h>

int main(void) {
  int list[100];
  for (int i = 0; i < 100; i++)
    list[i] = i;
#pragma omp target enter data map(to : list[10 : 10])
#pragma omp target map(list[10 : 10])
  for (int i = 10; i < 20; i++)
    list[i] = -i;
#pragma omp target update from(list[12 : 3])
  CHECK(list[11] == 11 && list[12] == -12 && list[14] == -14 && list[15] == 15);
  // Nothing of it is there, so nothing moves.
#pragma omp target update from(list[40 : 3])
  CHECK(list[40] == 40);
  puts("before");
  fflush(stdout);
#pragma omp target update from(list[5 : 10])
  puts("after");
  return 0;
}
