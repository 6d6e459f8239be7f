// covers: static data members, inline variables, namespace globals, constexpr tables in declare target
#include <cstdio>

#pragma omp begin declare target
namespace config {
inline int level = 3;
constexpr int primes[] = {2, 3, 5, 7, 11};
}  // namespace config
struct Registry {
  static int used;
  static constexpr double scale = 1.5;
  static int next() { return ++used; }
};
int Registry::used = 10;
template <typename T>
struct PerType {
  static T value;
};
template <typename T>
T PerType<T>::value = T(1);
#pragma omp end declare target

int main() {
  int out[4] = {};
  double real = 0;
#pragma omp target map(tofrom : out, real)
  {
    out[0] = config::level + config::primes[4];
    out[1] = Registry::next();
    out[2] = Registry::next();
    PerType<int>::value += 4;
    out[3] = PerType<int>::value;
    real = Registry::scale * 2;
  }
  std::printf("%d %d %d %d %g\n", out[0], out[1], out[2], out[3], real);
#pragma omp target update from(Registry::used, config::level)
  std::printf("%d %d\n", Registry::used, config::level);
  config::level = 99;
#pragma omp target update to(config::level)
#pragma omp target map(from : out[0 : 1])
  out[0] = config::level;
  std::printf("%d\n", out[0]);
}
