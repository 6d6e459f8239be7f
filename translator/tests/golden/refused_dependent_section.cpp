template <class T> void f(T x) {
#pragma omp target device(ancestor : 1) map(tofrom : x[0 : 4])
  (void)x;
}
