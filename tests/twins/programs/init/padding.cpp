// Bytes between members are nobody's.
// with: openmp
// options: -O0 -g
#include <cstdio>

struct Pair { char one; int other; };

int main()
{
  int same = 0;
#pragma omp target map(tofrom: same)
  {
    Pair a, b;
    a.one = b.one = 1;
    a.other = b.other = 2;
    Pair copy = a;
#ifdef WRONG
    auto *first = (const unsigned char *)&copy, *second = (const unsigned char *)&b;
    same = 1;
    for (unsigned i = 0; i < sizeof(Pair); ++i)
      if (first[i] != second[i]) // finds
        same = 0;
#else
    if (copy.one == b.one && copy.other == b.other)
      same = 1;
#endif
  }
  std::printf("%d\n", same);
}
