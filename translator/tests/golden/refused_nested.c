void f(int x) {
#pragma omp target device(ancestor: 1)
  {
    x++;
#pragma omp target map(x)
    x++;
  }
}
