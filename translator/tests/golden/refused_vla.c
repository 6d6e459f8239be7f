void f(int n) {
  int a[n];
#pragma omp target device(ancestor: 1)
  a[0]++;
}
