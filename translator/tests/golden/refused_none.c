void f(int a, int b) {
#pragma omp target device(ancestor: 1) defaultmap(none) firstprivate(a)
  {
    a++;
    b++;
  }
}
