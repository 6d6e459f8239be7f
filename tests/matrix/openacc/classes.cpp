// Templates, references and classes with data of their own on the device.
#include <cstdio>
#include <openacc.h>

template <typename T> struct Vector { T x, y; };
#pragma acc routine seq
static int length_of(const Vector<int> &vector) { return vector.x * vector.x + vector.y * vector.y; }

template <typename T> struct Field {
  int size;
  T *data;
  explicit Field(int size) : size(size), data(new T[size]) {
#pragma acc enter data copyin(this[0 : 1]) create(data[0 : size])
  }
  ~Field() {
#pragma acc exit data delete (data[0 : size], this[0 : 1])
    delete[] data;
  }
  void fill(T step) {
#pragma acc parallel loop present(this[0 : 1], data[0 : size])
    for (int i = 0; i < size; i++) data[i] = step * i;
  }
  void fetch() {
#pragma acc update self(data[0 : size])
  }
};

int main() {
  const int n = 4096;
  int wrong = 0;

  Field<double> field(n);
  field.fill(0.5);
  field.fetch();
  for (int i = 0; i < n; i++) wrong += field.data[i] != 0.5 * i;

  static Vector<int> vectors[n];
  for (int i = 0; i < n; i++) vectors[i] = {i, -i};
  int most = 0;
#pragma acc parallel loop copy(vectors) reduction(max : most)
  for (int i = 0; i < n; i++) {
    vectors[i].x += 1;
    const int length = length_of(vectors[i]);
    most = length > most ? length : most;
  }
  wrong += most != n * n + (n - 1) * (n - 1);
  for (int i = 0; i < n; i++) wrong += vectors[i].x != i + 1 || vectors[i].y != -i;

  std::printf("classes in C++: %d wrong\n", wrong);
  return wrong != 0;
}
