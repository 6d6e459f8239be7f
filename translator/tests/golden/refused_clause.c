void f(int x) {
#pragma omp target device(ancestor: 1) \
    thread_limit(4)
  x++;
}
