// Structures come back whose padding nothing has written, or a member.
// with: openmp gcc
#include <stdio.h>

struct item { char kind; double value; int count; };

int main(void)
{
  struct item items[40]; // finds: copied back
#pragma omp target map(from: items)
  for (int i = 0; i < 40; ++i) {
    items[i].kind = 'a';
#ifndef WRONG
    items[i].value = i;
#endif
    items[i].count = i;
  }
  printf("%d\n", items[3].count);
  return 0;
}
