// Members, templates, lambda expressions, references, and vectors of the standard library.
#include <cmath>
#include <cstdio>
#include <vector>

template <class T> class Field {
  T *data;
  int n;

public:
  explicit Field(int n) : data(new T[n]), n(n) {
    for (int i = 0; i < n; i++) data[i] = T(i);
  }
  ~Field() { delete[] data; }
  void scale(T f) {
#pragma acc parallel loop copy(data[0 : n])
    for (int i = 0; i < n; i++) data[i] *= f;
  }
  T sum() const {
    T s = 0;
#pragma acc parallel loop copyin(this->data[0 : this->n]) reduction(+ : s)
    for (int i = 0; i < this->n; ++i) s += this->data[i];
    return s;
  }
};

namespace physics {
static double constants[3] = {1, 2, 3};
template <int N> double weighed(const double (&list)[N]) {
  double total = 0;
#pragma acc parallel loop reduction(+ : total) copyin(list)
  for (int i = 0; i < N; i++) total += list[i] * constants[i % 3];
  return total;
}
} // namespace physics

static void add(int &to, const int &what, std::vector<float> &into) {
  float *p = into.data();
  int n = int(into.size());
#pragma acc parallel loop copy(p[0 : n]) reduction(+ : to)
  for (int i = 0; i < n; i++) {
    p[i] += what;
    to += 1;
  }
}

int main() {
  Field<double> f(1000);
  f.scale(2);
  Field<int> g(100);
  g.scale(3);
  if (f.sum() != 999000 || g.sum() != 14850) return std::printf("%g %d\n", f.sum(), g.sum()), 1;
  double list[6] = {1, 1, 1, 2, 2, 2};
  if (physics::weighed(list) != 18) return std::puts("weighed"), 1;
  std::vector<float> v(500, 1.5f);
  int count = 0;
  add(count, 3, v);
  if (count != 500 || v[0] != 4.5f || v[499] != 4.5f) return std::puts("add"), 1;
  float *p = v.data();
  auto root = [](float x) { return std::sqrt(x) + 1; };
#pragma acc parallel loop copy(p[0 : 500])
  for (int i = 0; i < 500; i++) p[i] = root(p[i] * 2);
  if (v[7] != 4) return std::printf("%g\n", v[7]), 1;
  std::puts("ok");
}
