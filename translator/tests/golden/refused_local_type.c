void f(void) {
  struct local { int x; } l = {1};
#pragma omp target device(ancestor: 1)
  l.x++;
}
