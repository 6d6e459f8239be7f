#include <cstdio>
#pragma omp declare target
int twice(int value);
#pragma omp end declare target
int main() {
  int value = 21;
#pragma omp target map(tofrom : value)
  value = twice(value);
  std::printf("%d\n", value);
  return value != 42;
}
