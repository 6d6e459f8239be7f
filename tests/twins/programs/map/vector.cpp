// The elements of a vector are copied back, or only copied to the device.
// with: openmp
#include <cstdio>
#include <numeric>
#include <vector>

#ifdef WRONG
#define MAP to
#else
#define MAP tofrom
#endif

int main()
{
  std::vector<int> v(16384, 1);
  int *data = v.data(), sum = 0;
  auto n = v.size();
#pragma omp target teams distribute parallel for map(MAP : data[0 : n])
  for (std::size_t i = 0; i < n; ++i)
    data[i] += static_cast<int>(i);
  for (int x : v)
    sum += x; // finds: the host reads
  std::printf("%d\n", sum);
  return 0;
}
