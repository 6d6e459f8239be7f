// covers: function and class templates whose instances each hold regions, non-type parameters, specialisations
#include <cstdio>

template <typename T, int N>
struct Array {
  T v[N];
  void fill(T from) {
#pragma omp target map(from : v)
    for (int i = 0; i < N; i++) v[i] = from + static_cast<T>(i);
  }
  T sum() {
    T total{};
#pragma omp target parallel for reduction(+ : total) map(to : v)
    for (int i = 0; i < N; i++) total += v[i];
    return total;
  }
};

template <typename T>
T dot(const T *a, const T *b, int n) {
  T out = 0;
#pragma omp target teams distribute parallel for map(to : a[0 : n], b[0 : n]) reduction(+ : out)
  for (int i = 0; i < n; i++) out += a[i] * b[i];
  return out;
}
template <>
char dot<char>(const char *a, const char *b, int n) {
  int out = 0;
#pragma omp target map(to : a[0 : n], b[0 : n]) map(tofrom : out)
  for (int i = 0; i < n; i++) out += a[i] == b[i];
  return static_cast<char>('0' + out);
}

template <typename... Ts>
double total(Ts... values) {
  double out = 0;
#pragma omp target map(tofrom : out)
  out = (0.0 + ... + values);
  return out;
}

int main() {
  Array<int, 7> ints;
  Array<double, 12> doubles;
  Array<unsigned char, 5> bytes;
  ints.fill(3);
  doubles.fill(0.25);
  bytes.fill(250);
  std::printf("%d %g %d\n", ints.sum(), doubles.sum(), bytes.sum());
  int a[4] = {1, 2, 3, 4};
  float f[3] = {0.5f, 1, 2};
  std::printf("%d %g %c\n", dot(a, a, 4), dot(f, f, 3), dot("abcd", "abxd", 4));
  std::printf("%g\n", total(1, 2.5, 3.25f, 'A'));
}
