// `this` in data clauses is the object, and functions of `std` are those of `math.h`.
#include <cmath>
#include <cstdio>

template <class T> class Samples {
public:
  T *data;
  int count;
  explicit Samples(int count) : data(new T[count]), count(count) {
#pragma acc enter data copyin(this)
#pragma acc enter data create(data[0 : count])
  }
  ~Samples() {
#pragma acc exit data delete(data[0 : count])
#pragma acc exit data delete(this)
    delete[] data;
  }
  void fill(T first) {
#pragma acc parallel loop present(this)
    for (int i = 0; i < count; i++) data[i] = first + i;
  }
  void fetch() {
#pragma acc update self(data[0 : count])
  }
  void shrink(int to) {
    count = to;
#pragma acc update device(this)
  }
  T &at(int i) { return data[i]; }
};

static void roots(Samples<double> &to, Samples<float> &from) {
#pragma acc kernels loop independent present(to, from)
  for (int i = 0; i < from.count; i++) to.at(i) = std::sin(std::pow(from.at(i), 0.5f)) + std::sqrt(to.at(i));
}

int main() {
  Samples<double> to(100);
  Samples<float> from(100);
  to.fill(1);
  from.fill(2);
  from.shrink(60);
  roots(to, from);
  to.fetch();
  for (int i = 0; i < 100; i++) {
    double expected = i < 60 ? std::sin(std::pow(2.f + i, 0.5f)) + std::sqrt(1. + i) : 1 + i;
    if (std::fabs(to.data[i] - expected) > 1e-5) return std::printf("%d: %g, %g\n", i, to.data[i], expected), 1;
  }
  std::puts("ok");
}
