// A template that runs a function object over a range, with what it captures by reference mapped. Wrong: all threads write one element.
// with: openmp
#include <array>
#include <cstdio>
template <class F> void for_each(int n, F f) {
#pragma omp target teams distribute parallel for firstprivate(f)
  for (int i = 0; i < n; i++)
    f(i);
}
struct view {
  double *data;
  int rows, columns;
  double &operator()(int i, int j) const { return data[i * columns + j]; }
};
int main() {
  constexpr int R = 30, C = 20;
  static std::array<double, R * C> storage{};
  double *data = storage.data();
#pragma omp target data map(tofrom : data[0 : R * C])
  {
    double *device = data;
#pragma omp target data use_device_ptr(device)
    {
      view v{device, R, C};
      for_each(R * C, [=](int i) { v(i / C, i % C) = i; });
#ifdef WRONG
      for_each(R, [=](int i) { v(0, 0) += v(i, 1); }); // finds
#else
      for_each(R, [=](int i) { v(i, 0) += v(i, 1); });
#endif
    }
  }
  std::printf("%g\n", storage[C]);
}
