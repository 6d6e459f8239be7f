// A byte of its own that threads count in: the word around it is looked at by atomic operations. Wrong: the byte behind it.
// with: openmp
#include <stdio.h>
int main(void) {
  unsigned char count[1] = {0};
  int first = 0;
#ifdef WRONG
  first = 1;
#endif
#pragma omp target teams distribute parallel for map(tofrom : count)
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    count[first]++; // finds
  }
  printf("%d\n", count[0]);
  return 0;
}
