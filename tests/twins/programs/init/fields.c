// Fields that share a word.
// with: openmp
// options: -O0 -g
#include <stdio.h>

struct State { unsigned ready : 1, level : 5, rest : 26; };

int main(void)
{
  struct State all[64];
  int many = 0;
#pragma omp target map(alloc: all) map(tofrom: many)
  for (int i = 0; i < 64; ++i) {
    all[i].level = i & 31;
    all[i].ready = 1;
#ifdef WRONG
    if (all[i].rest > 3) // finds
#else
    if (all[i].level > 3)
#endif
      ++many;
  }
  printf("%d\n", many);
  return 0;
}
