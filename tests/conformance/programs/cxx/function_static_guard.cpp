// covers: function-local statics with constructors on the device, initialised once by several threads
#include <cstdio>

#pragma omp begin declare target
static int constructions = 0;
struct Table {
  int v[16];
  Table() {
    constructions++;
    for (int i = 0; i < 16; i++) v[i] = i * i;
  }
};
static const Table &table() {
  static const Table instance;
  return instance;
}
// Two in a row, which some threads come to and others do not.
struct Number {
  int value;
  explicit Number(int n) : value(n) {
#pragma omp atomic
    constructions++;
  }
};
template <int N> static const Number &number(bool first) {
  static const Number one(N), other(N + 1);
  return first ? one : other;
}
#pragma omp end declare target

int main() {
  int sum = 0, made = 0, numbers = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 64; i++) {
    const Table &squares = table();
    sum += squares.v[i % 16];
  }
#pragma omp target teams distribute parallel for reduction(+ : numbers)
  for (int i = 0; i < 3000; i++) {
    if (i % 3 == 0) {
      const Number &found = number<5>(i & 1);
      numbers += found.value;
    } else if (i % 3 == 1) {
      const Number &found = number<7>(i & 2);
      numbers += found.value;
    }
  }
#pragma omp target map(from : made)
  made = constructions;
  std::printf("%d %d %d\n", sum, numbers, made);
}
