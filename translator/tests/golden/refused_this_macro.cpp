#define BUMP count++
struct counter {
  int count;
  void f() {
#pragma omp target device(ancestor : 1)
    BUMP;
  }
};
