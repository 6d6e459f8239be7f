#define INNER 1
#define OUTER INNER
void f(void) {
#pragma omp target device(ancestor: 1)
  { int k = OUTER; (void)k; }
#undef INNER
}
