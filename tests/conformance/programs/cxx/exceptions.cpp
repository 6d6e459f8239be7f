// covers: exceptions thrown and caught inside a region, and around regions on the host
#include <cstdio>
#include <stdexcept>

#pragma omp begin declare target
static int risky(int x) {
  if (x % 3 == 0) throw x;
  return x;
}
#pragma omp end declare target

static void offload_then_throw(int &x) {
#pragma omp target map(tofrom : x)
  x *= 2;
  throw std::runtime_error("on the host");
}

int main() {
  int caught = 0, sum = 0;
#pragma omp target map(tofrom : caught, sum)
  for (int i = 1; i <= 9; i++) {
    try {
      sum += risky(i);
    } catch (int value) {
      caught += value;
    }
  }
  std::printf("%d %d\n", caught, sum);
  int x = 21;
  try {
    offload_then_throw(x);
  } catch (const std::exception &e) {
    std::printf("%s %d\n", e.what(), x);
  }
  try {
#pragma omp target data map(tofrom : x)
    {
#pragma omp target
      x++;
    }
    throw 1;
  } catch (int) {
    std::printf("%d\n", x);
  }
}
