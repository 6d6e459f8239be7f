// Virtual functions of objects that a region makes.
#include <cstdio>

#pragma omp begin declare target
struct Shape {
  virtual int area() const { return 0; }
  virtual ~Shape() {}
};
struct Square : Shape {
  int side = 3;
  int area() const override { return side * side; }
};
#pragma omp end declare target

int main() {
  int areas[2] = {-1, -1};
#pragma omp target map(tofrom : areas)
  {
    Shape shape;
    Square square;
    const Shape *shapes[2] = {&shape, &square};
    for (int i = 0; i < 2; i++) areas[i] = shapes[i]->area();
  }
  printf("%d %d\n", areas[0], areas[1]);
}
