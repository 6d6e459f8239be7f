namespace n { int x; }
void f() {
  int x = 1;
#pragma omp target map(tofrom: x)
#pragma omp target device(ancestor: 1) map(tofrom: x)
  x = n::x;
}
