// covers: range-based for, random access iterators in worksharing loops, structured bindings, auto
#include <cstdio>
#include <utility>
#include <vector>

int main() {
  std::vector<int> v(50);
  int *begin = v.data(), *end = begin + v.size();
#pragma omp target teams distribute parallel for map(from : begin[0 : 50])
  for (int i = 0; i < 50; i++) begin[i] = 100 - i;
  long sum = 0;
  const long n = end - begin;
#pragma omp target map(to : begin[0 : n]) map(tofrom : sum)
  {
    const int *stop = begin + n;
#pragma omp parallel for reduction(+ : sum)
    for (const int *p = begin; p < stop; ++p) sum += *p;
  }
  std::printf("%ld\n", sum);
  int pairs[3][2] = {{1, 2}, {3, 4}, {5, 6}}, product = 0;
#pragma omp target map(to : pairs) map(tofrom : product)
  for (auto &row : pairs) {
    auto [a, b] = std::pair(row[0], row[1]);
    product += a * b;
  }
  std::printf("%d\n", product);
}
