void f(int x) {
  typeof(x) y = x;
#pragma omp target device(ancestor: 1)
  y++;
}
