// covers: data of std::vector, std::array and std::string in regions, std algorithms on the device
#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

int main() {
  std::vector<double> x(1000), y(1000, 2.0);
  std::iota(x.begin(), x.end(), 0.0);
  double *px = x.data(), *py = y.data();
  const std::size_t n = x.size();
#pragma omp target teams distribute parallel for map(to : px[0 : n]) map(tofrom : py[0 : n])
  for (std::size_t i = 0; i < n; i++) py[i] += 3 * px[i];
  std::printf("%g\n", std::accumulate(y.begin(), y.end(), 0.0));

  std::array<int, 8> sorted{7, 3, 9, 1, 8, 2, 6, 4};
#pragma omp target map(tofrom : sorted)
  std::sort(sorted.begin(), sorted.end());
  for (int v : sorted) std::printf("%d ", v);
  std::printf("\n");

  std::string text = "offload";
  char *c = text.data();
  const std::size_t length = text.size();
#pragma omp target map(tofrom : c[0 : length])
  std::reverse(c, c + length);
  std::printf("%s\n", text.c_str());

  int inside = 0;
#pragma omp target map(from : inside)
  {
    std::vector<int> v;
    for (int i = 0; i < 100; i++) v.push_back(i * i % 17);
    inside = *std::max_element(v.begin(), v.end()) + static_cast<int>(v.size());
  }
  std::printf("%d\n", inside);
}
