// covers: target device(ancestor: 1) in member functions, templates and lambda expressions: `this`, private members, local types
// stock: unusable because reverse offload is not in it
// translated: yes
#include <cstdio>
#include <map>
#include <string>
#include <omp.h>
#pragma omp requires reverse_offload
static std::map<int, std::string> journal;
int global = 5;
static void keep(const std::string &s) { journal[global++] = s; }
struct base { int inherited = 9; void tell(int v) { std::printf("tell %d %d\n", v, inherited); } };
class solver : public base {
  int count = 0;
  double *values = nullptr;
  static int shared;
  struct record { int step; double v; };
  void note(const record &r) { count++; std::printf("note %d %g\n", r.step, r.v); }
  template <class T> T twice(T v) { return v + v + count; }
public:
  solver(double *v) : values(v) {}
  void run(int n) {
#pragma omp target map(tofrom: this[:1], values[0:n])
    for (int step = 0; step < n; step++) {
      record r{step, step * 0.5};
      values[step] += 1;
#pragma omp target device(ancestor: 1) map(always, tofrom: values[0:n])
      {
        note(r);
        base::tell(twice(step));
        this->tell(shared++);
        values[step] *= 10;
        auto f = [&] { return inherited + this->count + twice<int>(1); };
        std::printf("%d\n", f());
      }
    }
    std::printf("count %d values %g %g\n", count, values[0], values[n-1]);
  }
};
int solver::shared = 40;
template <class T> struct box {
  T secret;
  int k = 3;
  template <class U, int N> T go(int n, U u) {
    enum { K = 3 };
    typedef T local_type;
    constexpr int size = N + 1;
    T sum = 0;
#pragma omp target map(tofrom: sum)
    {
      for (int i = 0; i < n; i++) {
#pragma omp target device(ancestor: 1) map(always, tofrom: sum) firstprivate(u)
        {
          local_type a[size] = {K};
          try { sum += a[0] + N; keep(std::to_string(sum)); if (sum > 5) throw 5; } catch (int) { std::printf("caught\n"); }
          std::printf("%s %s\n", std::to_string(sum).c_str(), std::to_string(u).c_str());
        }
      }
    }
    return sum;
  }
};
#pragma omp begin declare target
template <class T> void dt(T x) {
  int y = 4;
#pragma omp target device(ancestor: 1) map(tofrom: x)
  { keep(std::to_string(x) + std::to_string(y)); std::printf("dt %s\n", std::to_string(x).c_str()); }
}
template <class T> void same() {
#pragma omp target device(ancestor: 1)
  std::printf("same %d\n", (int)sizeof(T));
}
template <class... T> void pack(T... ) {
#pragma omp target device(ancestor: 1)
  std::printf("pack %d\n", (int)sizeof...(T));
}
#pragma omp end declare target
template<class T> void lam(T t) {
#pragma omp target firstprivate(t)
 {
  auto f = [&](auto x) {
#pragma omp target device(ancestor: 1) firstprivate(x)
    { std::printf("lam %s\n", std::to_string(x).c_str()); }
  };
  auto g = [=](int x) {
#pragma omp target device(ancestor: 1) firstprivate(t)
    { std::printf("g %d %s\n", x, std::to_string(t).c_str()); }
  };
  f(3); f(2.5f); f(t); g(7);
 }
}
int main() {
  double v[3] = {1, 2, 3};
  solver s(v); s.run(3);
  box<int> b{}; std::printf("%d\n", b.go<long, 4>(2, 3));
  box<double> d{}; std::printf("%g\n", d.go<float, 4>(2, 1)); std::printf("%g\n", d.go<float, 1>(2, 1));
#pragma omp target
  { dt(4); dt(4.5); same<char>(); same<double>(); pack(1, 2); pack(1, 2., 'c'); }
  lam(3L); lam(4u);
  std::printf("%zu\n", journal.size());
  struct { int a, b; } unnamed = {1, 2};
#pragma omp target map(tofrom: unnamed)
  if (unnamed.a)
#pragma omp target device(ancestor: 1) map(always, tofrom: unnamed)
  unnamed.b += 5;
  else unnamed.a = 9;
  std::printf("%d\n", unnamed.b);
}
