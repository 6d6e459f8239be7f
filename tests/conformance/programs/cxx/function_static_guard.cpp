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
#pragma omp end declare target

int main() {
  int sum = 0, made = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 64; i++) {
    const Table &squares = table();
    sum += squares.v[i % 16];
  }
#pragma omp target map(from : made)
  made = constructions;
  std::printf("%d %d\n", sum, made);
}
