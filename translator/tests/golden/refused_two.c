void f(int x) {
#pragma omp target device(ancestor: 2)
  x++;
}
