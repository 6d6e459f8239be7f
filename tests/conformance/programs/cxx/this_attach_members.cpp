// covers: objects mapped once whose member pointers are attached, updated and used from several methods
#include <cstdio>

struct Grid {
  int n, m;
  double *a, *b;
  void create(int n0, int m0) {
    n = n0;
    m = m0;
    a = new double[n * m]();
    b = new double[n * m]();
#pragma omp target enter data map(to : this[0 : 1]) map(to : a[0 : n * m]) map(alloc : b[0 : n * m])
  }
  void step() {
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) b[i * m + j] = a[i * m + j] + (i == j ? 1 : 0.25);
#pragma omp target
    for (int i = 0; i < n * m; i++) a[i] = b[i];
  }
  double trace() {
    double t = 0;
#pragma omp target map(tofrom : t)
    for (int i = 0; i < n && i < m; i++) t += a[i * m + i];
    return t;
  }
  void destroy() {
#pragma omp target exit data map(from : a[0 : n * m]) map(delete : b[0 : n * m]) map(release : this[0 : 1])
  }
};

int main() {
  Grid grid;
  grid.create(4, 5);
  for (int i = 0; i < 3; i++) grid.step();
  std::printf("%g %g\n", grid.trace(), grid.a[0]);
  grid.a[6] = 100;
  double *a = grid.a;
#pragma omp target update to(a[6 : 1])
  std::printf("%g\n", grid.trace());
  grid.destroy();
  std::printf("%g %g %g\n", grid.a[0], grid.a[1], grid.a[6]);
  delete[] grid.a;
  delete[] grid.b;
}
