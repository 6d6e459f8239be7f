// The place of the smallest element: compared in the critical region, or before it.
// with: openmp gcc
#include <cstdio>
#include <vector>

struct best {
  double value;
  int index;
};

int main()
{
  std::vector<double> values(2000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (i * 7919) % 4001;
  double *data = values.data();
  int n = static_cast<int>(values.size());
  best found = {1e30, -1};
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(64) map(to: data[0:n]) map(tofrom: found)
  for (int i = 0; i < n; ++i) {
#ifdef WRONG
    if (data[i] < found.value) // finds
#endif
    {
#pragma omp critical
      if (data[i] < found.value)
        found = best{data[i], i}; // finds
    }
  }
  std::printf("%g %d\n", found.value, found.index);
}
