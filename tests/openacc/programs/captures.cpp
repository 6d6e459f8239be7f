// as without OpenACC
// Variables in the brackets of lambda expressions: under their names, with what they begin with, and both at once.
#include <cstdio>

enum { COUNT = 40 };

int main() {
  int list[COUNT], from[COUNT], *p = from;
  for (int i = 0; i < COUNT; i++) list[i] = 0, from[i] = i + 3;
  int w = 5;
  long sum = 0;
#pragma acc parallel loop copy(list) copyin(p[0 : COUNT]) reduction(+ : sum)
  for (int i = 0; i < COUNT; i++) {
    auto first = [k = p[0], w](int j) { return k * j + w; };
    auto both = [p, k = p[i] + w](int j) { return p[j] + k; };
    auto by_name = [&w, &q = p[1]](int j) { return w + q * j; };
    auto all = [=, last = p[COUNT - 1]](int j) { return p[j] - last; };
    auto none = [k = 2](int j) { return k + j; };
    auto array = [p, rows = [](int j) { return j % 7; }](int j) { return p[rows(j)]; };
    list[i] = first(i) + 3 * both(i) - by_name(i) + all(i) + none(i) + array(i);
    sum += list[i];
  }
  for (int i = 0; i < COUNT; i++) std::printf("%d ", list[i]);
  std::printf("%ld\n", sum);
}
