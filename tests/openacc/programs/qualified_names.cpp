// Variables of namespaces and static members of classes, by their qualified names.
#include <cstdio>

namespace outer {
double weights[3] = {1, 2, 3};
int rounds = 2;
namespace inner {
float depth[2] = {7, 8};
double *list;
} // namespace inner
struct Point {
  double x, y;
};
Point origin = {1, 2};
Point corner = {3, 4};
} // namespace outer

namespace {
struct Table {
  static double entries[4];
  static int size;
  struct Part {
    static double factor;
  };
  static double weighed(double *out);
};
double Table::entries[4] = {1, 2, 3, 4};
int Table::size = 4;
double Table::Part::factor = 2.5;
} // namespace

template <class T> struct Unit {
  static T value;
  static T steps[2];
};
template <class T> T Unit<T>::value = T(9.5);
template <class T> T Unit<T>::steps[2] = {T(4.5), T(5.5)};
int shadowed = 3;

double Table::weighed(double *out) {
#pragma acc parallel loop copyout(out[0 : 4])
  for (int i = 0; i < size; i++) out[i] = entries[i] * Part::factor;
  return out[3];
}

int main() {
  double sum = 0, data[5] = {1, 2, 3, 4, 5}, out[4];
  int shadowed = 10;
  outer::inner::list = data;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < outer::rounds * 30; i++)
    sum += outer::weights[i % 3] + outer::inner::depth[i % 2] + ::shadowed + shadowed + ::outer::rounds;
  if (sum != 60 * (2 + 7.5 + 3 + 10 + 2)) return std::printf("variables: %g\n", sum), 1;
  sum = 0;
#pragma acc parallel loop reduction(+ : sum) copyin(outer::inner::list[0 : 5], Table::entries)
  for (int i = 0; i < Table::size; i++)
    sum += Table::entries[i] * Table::Part::factor + outer::inner::list[i];
  if (sum != 35) return std::printf("members: %g\n", sum), 1;
  if (Table::weighed(out) != 10) return std::printf("weighed: %g\n", out[3]), 1;
  sum = 0;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 10; i++)
    sum += Unit<double>::value + Unit<int>::value + Unit<int>::steps[i % 2] + Unit<unsigned>::steps[i % 2] * 100;
  if (sum != 95 + 90 + 45 + 4500) return std::printf("specialised: %g\n", sum), 1;
#pragma acc data copy(outer::weights) create(outer::inner::depth)
  {
#pragma acc parallel loop present(outer::weights, outer::inner::depth)
    for (int i = 0; i < 2; i++) outer::inner::depth[i] = outer::weights[i + 1]++;
#pragma acc update self(outer::inner::depth[0 : 2])
  }
#pragma acc serial copy(outer::rounds, outer::origin.x, outer::corner.x) copyout(Table::size)
  {
    outer::rounds += 1;
    Table::size = 7;
    outer::origin.x += outer::corner.x;
    outer::corner.x = 0;
  }
  if (outer::inner::depth[1] != 3 || outer::weights[2] != 4 || outer::rounds != 3 || Table::size != 7)
    return std::printf("copies: %g %g\n", outer::inner::depth[1], outer::weights[2]), 1;
  if (outer::origin.x != 4 || outer::corner.x != 0 || outer::origin.y != 2) return std::puts("parts"), 1;
  std::puts("ok");
}
