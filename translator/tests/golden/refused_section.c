void f(int *p) {
#pragma omp target device(ancestor: 1) map(p[:])
  p[0]++;
}
