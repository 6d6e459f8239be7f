// covers: requires unified_shared_memory: virtual functions and bases of host objects, constants
// flags: -fopenmp-version=52 -Wno-openmp-mapping
#include <cstdio>
#pragma omp requires unified_shared_memory

struct Base {
  int shared = 4;
  virtual int f(int x) { return x + shared; }
  virtual ~Base() = default;
};
struct Left : virtual Base {
  int f(int x) override { return 2 * x + shared; }
  virtual int g() { return 7; }
};
struct Right : virtual Base {
  virtual int h() const { return shared; }
};
struct Both : Left, Right {
  int g() override { return f(1) + h(); }
};

#pragma omp begin declare target
const int numbers[3] = {7, 8, 9};
static const double halves[2] = {.5, 1.5};
int counter = 5;
#pragma omp end declare target

int main() {
  Left left;
  Both both;
  int r = 0, s = 0, t = 0, i = 1;
#pragma omp target map(from : r, s)
  {
    r = left.f(3);
    s = both.g();
  }
  printf("%d %d\n", r, s);
  Base *object = &both;
  object->shared = 10;
#pragma omp target map(from : r) map(from : t)
  {
    Both own;
    r = object->f(5);
    t = own.g() + numbers[i] + (int)(2 * halves[i]);
    counter++;
  }
  printf("%d %d %d\n", r, t, counter);
}
