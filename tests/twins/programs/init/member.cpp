// A member that no constructor sets, behind a copy of the whole.
// with: openmp
// options: -O0 -g
#include <cstdio>

struct Cell { int kind; bool open; double value; };

int main()
{
  Cell cells[32];
  int many = 0;
#pragma omp target map(alloc: cells) map(tofrom: many)
  {
    for (int i = 0; i < 32; ++i) {
      cells[i].kind = i;
#ifndef WRONG
      cells[i].open = i > 4;
#endif
    }
    for (int i = 0; i < 32; ++i) {
      Cell copy = cells[i];
      if (copy.open) // finds
        ++many;
    }
  }
  std::printf("%d\n", many);
}
