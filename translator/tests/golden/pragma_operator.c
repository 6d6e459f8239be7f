void f(int x) {
  if (x) _Pragma("omp target device(ancestor : 1) firstprivate(x)") { int y = x; (void)y; } else x = 2;
}
