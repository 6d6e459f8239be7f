// covers: mappers for C++ classes: private members' accessors, inheritance, namespaces, template instances
#include <cstdio>

namespace geometry {
struct Base {
  int id = 1;
};
struct Cloud : Base {
  int n = 0;
  float *points = nullptr;
};
#pragma omp declare mapper(Cloud c) map(c.id, c.n) map(c.points[0 : c.n])
void shift(Cloud &cloud, float by) {
#pragma omp target map(tofrom : cloud)
  {
    for (int i = 0; i < cloud.n; i++) cloud.points[i] += by;
    cloud.id++;
  }
}
}  // namespace geometry

template <typename T>
struct Buffer {
  T *data;
  int size;
};
using IntBuffer = Buffer<int>;
#pragma omp declare mapper(IntBuffer b) map(b.size) map(b.data[0 : b.size])

int main() {
  float points[4] = {1, 2, 3, 4};
  geometry::Cloud cloud;
  cloud.n = 4;
  cloud.points = points;
  geometry::shift(cloud, 0.5f);
  geometry::shift(cloud, 1);
  std::printf("%g %g %d %d\n", points[0], points[3], cloud.id, cloud.points == points);
  int values[3] = {7, 8, 9};
  IntBuffer buffer{values, 3};
#pragma omp target map(tofrom : buffer)
  for (int i = 0; i < buffer.size; i++) buffer.data[i] = -buffer.data[i];
  std::printf("%d %d %d\n", values[0], values[1], values[2]);
}
