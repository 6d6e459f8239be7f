// covers: target device(ancestor: 1) with references, qualified names, attributes, pragmas before the region and conditional parts
// stock: unusable because reverse offload is not in it
// translated: yes
#include <cstdint>
#include <cstdio>

#pragma omp requires reverse_offload

#define PARALLEL 1

namespace outer {
int deep = 8;
struct holder {
  static int count;
  static constexpr int limit = 5;
};
} // namespace outer
int outer::holder::count = 3;
int global = 4;

struct alignas(128) line {
  double d[16];
};

// References that a construct makes firstprivate.
template <class T> static double references(const double &number, T &other, const int (&list)[2], const line &whole) {
  double result = 0;
#pragma omp target map(tofrom : result)
  {
#pragma omp target device(ancestor : 1) map(always, tofrom : result) firstprivate(other, list, whole)
    {
      result = number + other + list[1] + whole.d[3];
      std::printf("%s aligned %d\n", __func__, reinterpret_cast<std::uintptr_t>(&whole) % 128 == 0);
    }
  }
  return result;
}

int main() {
  int other = 20, list[2] = {100, 200}, r = 0, threads = 2;
  line whole{{1000, 2000, 3000, 4000}};
  std::printf("%g\n", references(0.5, other, list, whole));
#pragma omp target map(tofrom : r)
  {
    global = 40;
    outer::deep = 80;
    [[omp::directive(target device(ancestor : 1) map(always, tofrom : r))]] {
      r = global + ::global * 100 + outer::deep * 10000 + outer::holder::count + outer::holder::limit;
    }
#ifdef PARALLEL
#pragma omp target device(ancestor : 1) map(always, tofrom : r)
#pragma omp parallel for num_threads(threads) reduction(+ : r)
#else
#pragma omp masked
#endif
    for (int i = 0; i < 4; i++)
      r += 1000000;
#ifdef PARALLEL
#pragma omp target device(ancestor : 1) map(always, tofrom : r)
    {
#endif
      r += 10000000;
#ifdef PARALLEL
    }
#endif
  }
  std::printf("%d\n", r);
}
