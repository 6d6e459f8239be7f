// A vector that has grown since it was mapped: its elements are elsewhere.
// with: openmp gcc
#include <cstdio>
#include <vector>

int main()
{
  std::vector<int> numbers(100, 1);
#ifndef WRONG
  numbers.resize(300, 2);
#endif
  int *data = numbers.data();
  int count = numbers.size();
#pragma omp target enter data map(to: data[0:count])
#ifdef WRONG
  numbers.resize(300, 2);
  data = numbers.data();
#endif
  int sum = 0;
#pragma omp target map(tofrom: sum)
  for (int i = 0; i < 300; ++i)
    sum += data[i]; // finds: read
  std::printf("%d\n", sum);
#pragma omp target exit data map(release: data[0:count])
}
