#line 100 "grammar.y"
void f(int x) {
#pragma omp target device(ancestor: 1)
  (void)x;
}
