void f(void) {
#pragma omp target device(ancestor: 1) map(to: nowhere)
  ;
}
