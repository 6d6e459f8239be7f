// A byte of its own that threads count in, by functions of libatomic that look at eight bytes. Wrong: the byte behind it.
// with: gcc
// options: -O0 -g -foffload-options=nvptx-none=-latomic
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
    count[first]++;
  }
  printf("%d\n", count[0]);
  return 0;
}
