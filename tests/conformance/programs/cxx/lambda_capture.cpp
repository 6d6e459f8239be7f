// covers: lambdas called in regions: captures by value, by reference, of this, of pointers, nested lambdas
#include <cstdio>

struct Model {
  int factor = 3;
  int table[4] = {1, 2, 3, 4};
  int apply(int x) {
    int out = 0;
    auto f = [this](int v) { return v * factor + table[v % 4]; };
#pragma omp target map(to : this[0 : 1]) map(from : out)
    out = f(x);
    return out;
  }
};

int main() {
  int a = 5, b = 7;
  double half = 0.5;
  int data[6] = {1, 2, 3, 4, 5, 6};
  int *p = data;
  auto by_value = [a, half](int x) { return (int)(x * a * half); };
  int sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 11; i++) sum += by_value(i);
  std::printf("%d\n", sum);

  int total = 0;
  auto by_reference = [&](int x) { total += x + b; };
#pragma omp target map(tofrom : total) map(to : b)
  for (int i = 0; i < 4; i++) by_reference(i);
  std::printf("%d\n", total);

  int first = 0;
  auto pointer = [p](int i) { return p[i]; };
#pragma omp target map(to : p[0 : 6]) map(from : first)
  first = pointer(4);
  std::printf("%d\n", first);

  int deep = 0;
  auto outer = [=](int x) {
    auto inner = [=](int y) { return x * y + a; };
    return inner(b);
  };
#pragma omp target map(from : deep)
  deep = outer(6);
  std::printf("%d\n", deep);
  Model model;
  model.factor = 10;
  std::printf("%d\n", model.apply(7));
}
