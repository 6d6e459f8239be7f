// Static members of classes inside of class templates: each specialisation has its own.
#include <cstdio>

template <class T> struct Outer {
  struct Inner {
    static T weight;
  };
};
template <class T> T Outer<T>::Inner::weight = T(2.5);

int main() {
  double sum = 0;
#pragma acc parallel loop reduction(+ : sum)
  for (int i = 0; i < 100; i++) sum += Outer<int>::Inner::weight + 10 * Outer<double>::Inner::weight;
  if (sum != 2700) return std::printf("%g\n", sum), 1;
  std::puts("ok");
}
