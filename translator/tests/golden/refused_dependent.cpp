template <class T> void f(T x) {
#pragma omp target device(ancestor : 1)
  (void)x;
}
