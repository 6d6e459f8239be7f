// covers: tables of virtual functions with those that are pure and those that are deleted, objects of the region's own
#include <cstdio>

#pragma omp begin declare target
struct Shape {
  virtual double area() const = 0;
  virtual int corners() const = delete;
  virtual ~Shape() {}
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  double side;
};
struct Slot {
  virtual int put(int) = delete;
  virtual int take() { return 3; }
};
#pragma omp end declare target

int main() {
  double total = 0;
  int taken = 0;
#pragma omp target teams distribute parallel for reduction(+ : total, taken)
  for (int i = 0; i < 50; i++) {
    Square square(i);
    const Shape *shape = &square;
    total += shape->area();
    Slot slot;
    Slot *some = &slot;
    taken += some->take();
  }
  std::printf("%g %d\n", total, taken);
}
