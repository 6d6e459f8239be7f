void f(void) {
  int a[4][4];
#pragma omp target device(ancestor: 1) map(tofrom: a[0:2][1:2])
  a[0][1] = 1;
}
