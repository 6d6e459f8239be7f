// A function that sets its result on some ways only.
// with: openmp
// options: -O0 -g
#include <cstdio>

#pragma omp declare target
bool find(const int *list, int wanted, int &place)
{
  for (int i = 0; i < 16; ++i)
    if (list[i] == wanted) {
      place = i;
      return true;
    }
#ifndef WRONG
  place = -1;
#endif
  return false;
}
#pragma omp end declare target

int main()
{
  int list[16], many = 0;
  for (int i = 0; i < 16; ++i)
    list[i] = 3 * i + 1;
#pragma omp target map(to: list) map(tofrom: many)
  for (int i = 0; i < 16; ++i) {
    int place;
    find(list, i, place);
    if (place >= 0) // finds
      ++many;
  }
  std::printf("%d\n", many);
}
