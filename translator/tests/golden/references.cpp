#include <cstddef>
namespace inner {
struct point { double x, y; };
static int calls;
template <class T> T larger(T a, T b) { return a > b ? a : b; }
double f(point &p, const int (&table)[3]) {
  double sum = 0;
  auto add = [&sum, &p] {
#pragma omp target device(ancestor: 1) map(tofrom: sum, p)
    {
      auto twice = [&](double v) { return v * 2; };
      sum += twice(larger(p.x, p.y));
      ++calls;
    }
  };
  add();
#pragma omp target device(ancestor: 1) firstprivate(table) map(tofrom: sum)
  sum += table[0];
  return sum;
}
}
