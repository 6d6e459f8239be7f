// as without OpenACC
#include <cstdio>
#include <vector>
#include <algorithm>
#include <cmath>
namespace lib {
template <class T> struct Field {
  T *data; int nx, ny;
  Field(int nx, int ny) : data(new T[nx * ny]()), nx(nx), ny(ny) {
#pragma acc enter data copyin(this[0:1])
#pragma acc enter data create(data[0:nx*ny])
  }
  ~Field() {
#pragma acc exit data delete(data[0:nx*ny])
#pragma acc exit data delete(this[0:1])
    delete[] data;
  }
  T &operator()(int i, int j) { return data[i * ny + j]; }
  void fill(T v) {
    T *d = data; int n = nx * ny;
#pragma acc parallel loop present(d[0:n])
    for (int i = 0; i < n; i++) d[i] = v + i;
  }
  void host() {
#pragma acc update self(data[0:nx*ny])
  }
  T sum() {
    T s = 0; 
#pragma acc parallel loop reduction(+:s) present(data[0:nx*ny])
    for (int i = 0; i < nx * ny; i++) s += data[i];
    return s;
  }
};
}
template <class F> void each(int n, double *p, F f) {
#pragma acc parallel loop copy(p[0:n])
  for (int i = 0; i < n; i++) p[i] = f(p[i], i);
}
template <int K, class T> T power(T x) {
  T r = 1;
  for (int i = 0; i < K; i++) r *= x;
  return r;
}
static void scale(int n, double *p, double k) { each(n, p, [=](double x, int i) { return x * k + i; }); }
struct Op { double a; double operator()(double x) const { return a * x + 1; } };
int main() {
  {
    lib::Field<double> f(20, 30); lib::Field<int> g(7, 9);
    f.fill(0.5); g.fill(3);
    std::printf("%g %d\n", f.sum(), g.sum());
    f.host(); std::printf("%g\n", f(3, 4));
  }
  std::vector<double> v(100);
  for (int i = 0; i < 100; i++) v[i] = i;
  double k = 2.5;
  scale(100, v.data(), k);
  Op op{3};
  double *p = v.data();
#pragma acc parallel loop copy(p[0:100]) copyin(op)
  for (int i = 0; i < 100; i++) p[i] = op(p[i]) + std::sqrt((double)i);
  double s = 0;
#pragma acc parallel loop reduction(max:s) copyin(p[0:100])
  for (int i = 0; i < 100; i++) s = std::max(s, power<3>(p[i]));
  std::printf("%.6g\n", s);
  auto lam = [&](int n) { int t = 0;
#pragma acc parallel loop reduction(+:t)
    for (int i = 0; i < n; i++) t += i; return t; };
  std::printf("%d %d\n", lam(10), lam(100));
  bool flags[50];
#pragma acc kernels loop copyout(flags)
  for (int i = 0; i < 50; ++i) flags[i] = i % 3 == 0;
  std::printf("%d\n", (int)std::count(flags, flags + 50, true));
  return 0;
}
