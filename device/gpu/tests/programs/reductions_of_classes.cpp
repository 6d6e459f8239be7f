// Reductions of C++: classes with constructors and operators, templates, arrays of them, many at once;
// with regions in generic kernels and in SPMD ones.
//
// The size of each element is a multiple of four bytes, but for plain numbers: clang 22 hands on the rest of
// others as a word, which is beyond the element's end.
#include "check.h"

namespace {

template <typename T> class Moments {
public:
  Moments() = default;
  explicit Moments(T first) : count(1), sum(first), largest(first) {}
  Moments &operator+=(const Moments &other) {
    if (other.count > 0 && (count == 0 || other.largest > largest))
      largest = other.largest;
    count += other.count;
    sum += other.sum;
    return *this;
  }
  long count = 0;
  T sum{}, largest{};
};

template <typename T> struct Complex {
  T real = 0, imaginary = 0;
  Complex operator*(const Complex &other) const {
    return {real * other.real - imaginary * other.imaginary, real * other.imaginary + imaginary * other.real};
  }
  Complex &operator+=(const Complex &other) {
    real += other.real;
    imaginary += other.imaginary;
    return *this;
  }
};

#pragma omp declare reduction(+ : Moments<int>, Moments<double> : omp_out += omp_in)
#pragma omp declare reduction(+ : Complex<float>, Complex<double> : omp_out += omp_in)
#pragma omp declare reduction(* : Complex<float>, Complex<double> : omp_out = omp_out * omp_in) \
    initializer(omp_priv = {1, 0})

constexpr int N = 2500;

template <typename T> void moments() {
  Moments<T> all(T(7)), inner;
  long rows = 0;
#pragma omp target teams distribute parallel for reduction(+ : all) map(tofrom : all)
  for (int i = 0; i < N; ++i)
    all += Moments<T>(T(i));
#pragma omp target teams distribute reduction(+ : inner, rows) map(tofrom : inner, rows) num_teams(3)
  for (int i = 0; i < 10; ++i) {
    Moments<T> row;
#pragma omp parallel for reduction(+ : row)
    for (int j = 0; j < 100; ++j)
      row += Moments<T>(T(i * 100 + j));
    inner += row;
    rows++;
  }
  CHECK(all.count, N + 1);
  CHECK(all.sum, (long)N * (N - 1) / 2 + 7);
  CHECK(all.largest, N - 1);
  CHECK(rows, 10);
  CHECK(inner.count, 1000);
  CHECK(inner.sum, 999 * 500);
  CHECK(inner.largest, 999);
}

template <typename T> void complex_numbers() {
  Complex<T> sum, product{1, 0}, part[3] = {};
#pragma omp target teams distribute parallel for reduction(+ : sum, part) reduction(* : product) \
    map(tofrom : sum, product, part)
  for (int i = 0; i < 256; ++i) {
    sum += Complex<T>{T(i), T(-2 * i)};
    part[i % 3] += Complex<T>{1, T(i % 3)};
    // A quarter turn.
    product = product * Complex<T>{0, 1};
  }
  CHECK(sum.real, 255 * 128);
  CHECK(sum.imaginary, -2 * 255 * 128);
  CHECK(product.real, 1);
  CHECK(product.imaginary, 0);
  for (int k = 0; k < 3; ++k) {
    CHECK(part[k].real, k == 0 ? 86 : 85);
    CHECK(part[k].imaginary, k * 85);
  }
}

void many() {
  long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  double p = 0, q = 0, r = 0, s = 0;
  unsigned char k = 0, l = 0;
  short m = 0, n = 0;
  bool all = true, any = false;
  const int threads[] = {1, 31, 32, 33, 128, 1024};
  for (int count : threads) {
    a = b = c = d = e = f = g = h = 0;
    p = q = r = s = 0;
    k = l = 0, m = n = 0, all = true, any = false;
#pragma omp target teams distribute parallel for thread_limit(count) num_teams(4)                              \
    reduction(+ : a, b, c, d, e, f, g, h, p, q, r, s, k, l, m, n) reduction(&& : all) reduction(|| : any)
    for (int i = 0; i < N; ++i) {
      a += i, b += 2 * i, c += 3, d -= i, e += i & 1, f += i % 3, g += 1, h -= 1;
      p += i, q += 0.5, r -= i, s += 1;
      k += 1, l += 3, m += 1, n -= 1;
      all = all && i >= 0, any = any || i == N - 1;
    }
    const long total = (long)N * (N - 1) / 2;
    CHECK(a, total);
    CHECK(b, 2 * total);
    CHECK(c, 3 * N);
    CHECK(d, -total);
    CHECK(e, N / 2);
    CHECK(f, N - 1);
    CHECK(g, N);
    CHECK(h, -N);
    CHECK(p, total);
    CHECK(q, N / 2);
    CHECK(r, -total);
    CHECK(s, N);
    CHECK(k, N % 256);
    CHECK(l, 3 * N % 256);
    CHECK(m, N);
    CHECK(n, -N);
    CHECK(all && any, 1);
  }
}

// The combiner makes an object, which at -O0 stands in memory that is asked of the runtime.
struct Vector {
  float values[4];
  Vector operator+(const Vector &other) const {
    Vector sum;
    for (int i = 0; i < 4; ++i) sum.values[i] = values[i] + other.values[i];
    return sum;
  }
};
#pragma omp declare reduction(add : Vector : omp_out = omp_out + omp_in) initializer(omp_priv = Vector{})

void temporaries() {
  constexpr int n = 1000;
  static Vector all[n];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) all[i].values[k] = i + k;
  const int shapes[] = {1, 3, 40};
  for (int teams : shapes) {
    Vector sum{}, of_team{};
#pragma omp target teams distribute parallel for num_teams(teams) reduction(add : sum) map(to : all)
    for (int i = 0; i < n; ++i) sum = sum + all[i];
#pragma omp target parallel for reduction(add : of_team) map(to : all)
    for (int i = 0; i < n; ++i) of_team = of_team + all[i];
    for (int k = 0; k < 4; ++k) {
      CHECK(sum.values[k], n * (n - 1) / 2 + n * k);
      CHECK(of_team.values[k], n * (n - 1) / 2 + n * k);
    }
  }
}

} // namespace

int main() {
  temporaries();
  moments<double>();
  complex_numbers<double>();
  many();
  return finish();
}
