// Templates, member functions and references in target regions.
#include <cstdio>
#include <omp.h>

#pragma omp declare target
template <typename T> struct Vector {
  T x, y;
  Vector operator+(const Vector &other) const { return {x + other.x, y + other.y}; }
  T length() const { return x * x + y * y; }
};
template <typename T> T largest(const T &a, const T &b) { return a < b ? b : a; }
#pragma omp end declare target

template <typename T> struct Field {
  int size;
  T *data;
  explicit Field(int size) : size(size), data(new T[size]) {
#pragma omp target enter data map(to : this[0 : 1]) map(alloc : data[0 : size])
  }
  ~Field() {
#pragma omp target exit data map(delete : data[0 : size], this[0 : 1])
    delete[] data;
  }
  void fill(T step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < size; i++) data[i] = step * i;
  }
  void fetch() {
#pragma omp target update from(data[0 : size])
  }
};

int main() {
  const int n = 4096;
  int wrong = 0;
  bool host = true;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  wrong += host;

  Field<double> field(n);
  field.fill(0.5);
  field.fetch();
  for (int i = 0; i < n; i++) wrong += field.data[i] != 0.5 * i;

  static Vector<int> vectors[n];
  for (int i = 0; i < n; i++) vectors[i] = {i, -i};
  int most = 0;
#pragma omp target teams distribute parallel for map(tofrom : vectors) reduction(max : most)
  for (int i = 0; i < n; i++) {
    vectors[i] = vectors[i] + Vector<int>{1, 1};
    most = largest(most, vectors[i].length());
  }
  wrong += most != n * n + (n - 2) * (n - 2);
  for (int i = 0; i < n; i++) wrong += vectors[i].x != i + 1 || vectors[i].y != 1 - i;

  int count = 0;
  int &reference = count;
#pragma omp target map(tofrom : reference)
  reference += 2;
  wrong += count != 2;

  std::printf("classes in C++: %d wrong\n", wrong);
  return wrong != 0;
}
