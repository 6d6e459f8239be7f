// A vector whose elements come back in a task: it is summed up behind the task, or at once.
// with: openmp
// options: -O1 -g --check=race
#include <cstdio>
#include <vector>

int main()
{
  std::vector<int> values(3000, 1);
  int *data = values.data();
  int n = static_cast<int>(values.size()), sum = 0;
#pragma omp target teams distribute parallel for map(tofrom: data[0:n]) nowait // finds
  for (int i = 0; i < n; ++i)
    data[i] += i;
#ifndef WRONG
#pragma omp taskwait
#endif
  for (int value : values) // finds
    sum += value;
#pragma omp taskwait
  std::printf("%d\n", sum > 0);
}
