// covers: virtual functions of objects made inside a region, abstract bases, multiple inheritance, dynamic_cast
#include <cstdio>

#pragma omp begin declare target
struct Shape {
  virtual double area() const = 0;
  virtual const char *name() const { return "shape"; }
  virtual ~Shape() {}
};
struct Named {
  int id = 4;
  virtual int tag() const { return id; }
  virtual ~Named() {}
};
struct Square : Shape {
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
  double side;
};
struct Circle : Named, Shape {
  double area() const override { return 3 * radius * radius; }
  const char *name() const override { return "circle"; }
  int tag() const override { return id + 100; }
  double radius = 2;
};
#pragma omp end declare target

int main() {
  double areas[2];
  char initial[2];
  int tags[2] = {0, 0};
#pragma omp target map(from : areas, initial) map(tofrom : tags)
  {
    Square square(1.5);
    Circle circle;
    const Shape *shapes[2] = {&square, &circle};
    for (int i = 0; i < 2; i++) {
      areas[i] = shapes[i]->area();
      initial[i] = shapes[i]->name()[0];
    }
    const Named *named = &circle;
    tags[0] = named->tag();
    Shape *heap = new Circle;
    heap->name();
    tags[1] = dynamic_cast<Named *>(heap) ? 1 : 2;
    delete heap;
  }
  std::printf("%g %g %c%c %d %d\n", areas[0], areas[1], initial[0], initial[1], tags[0], tags[1]);
}
