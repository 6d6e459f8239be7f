// covers: firstprivate and private objects with copy constructors, default constructors and destructors
#include <cstdio>

#pragma omp begin declare target
struct Value {
  int v;
  Value() : v(50) {}
  explicit Value(int x) : v(x) {}
  Value(const Value &other) : v(other.v + 1) {}
  Value &operator+=(int x) {
    v += x;
    return *this;
  }
  ~Value() { v = -1; }
};
struct Vec3 {
  double x, y, z;
  Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
  double operator*(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};
#pragma omp end declare target

int main() {
  Value value(7), other(1);
  int sum = 0;
  Vec3 a{1, 2, 3}, b{4, 5, 6};
  double dot = 0;
#pragma omp target map(tofrom : sum)
#pragma omp parallel num_threads(2) private(other) reduction(+ : sum)
  {
    other += 1;
    sum = other.v > 0 ? 1 : 0;
  }
  std::printf("%d\n", sum > 0);
#pragma omp target map(tofrom : value) map(tofrom : sum)
  {
    value += 5;
    Value copy(value);
    sum = copy.v;
  }
  std::printf("%d %d\n", value.v, sum);
#pragma omp target firstprivate(a, b) map(from : dot)
  dot = (a + b) * b;
  std::printf("%g %d\n", dot, other.v);
}
