void f(int x) {
#pragma omp target device(ancestor: 1)
  {
#pragma omp target device(ancestor: 1)
    x++;
  }
}
