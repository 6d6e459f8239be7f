// A vector of what the device has computed is copied to another vector.
// with: openmp
// options: -O1 -g --check=map
#include <cstdio>
#include <vector>

int main()
{
  std::vector<double> values(3000, 1);
  double *data = values.data();
  size_t n = values.size();
#pragma omp target enter data map(to: data[0:n])
#pragma omp target teams distribute parallel for
  for (size_t i = 0; i < n; ++i)
    data[i] += i; // finds: the host reads
#ifndef WRONG
#pragma omp target update from(data[0:n])
#endif
  std::vector<double> other = values;
#pragma omp target exit data map(release: data[0:n])
  std::printf("%g\n", other[5]);
}
