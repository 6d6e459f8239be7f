// as without OpenACC
// Variables that are templates, and static members of templates whose arguments are in a namespace without a name: each
// specialisation has its own.
#include <cstdio>

template <class T> T weight = T(2.5);
namespace outer {
template <class T, int N> T table[N] = {T(1.5), T(2)};
}

namespace {
struct tag {};
template <class T> struct hidden {
  static long count;
};
} // namespace
template <class T> struct holder {
  static int value;
};
template <> int holder<tag>::value = 7;
template <> int holder<int>::value = 9;
template <> long hidden<tag>::count = 100;
template <> long hidden<hidden<tag>>::count = 1000;

int main() {
  double sum = 0;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 100; i++) {
    sum += weight<int> + 10 * weight<double> + outer::table<int, 3>[i % 2] + 100 * outer::table<double, 2>[0];
    sum += holder<tag>::value * 1000 + holder<int>::value;
  }
  std::printf("%g\n", sum);
#pragma acc parallel loop reduction(+ : hidden<tag>::count)
  for (int i = 0; i < 100; i++) hidden<tag>::count += hidden<hidden<tag>>::count;
  std::printf("%ld\n", hidden<tag>::count);
}
