void f(int x) {
#pragma omp target device(ancestor: 1) map(x) firstprivate(x)
  x++;
}
