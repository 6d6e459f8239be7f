void f(int x) {
#pragma omp target parallel device(ancestor: 1)
  x++;
}
