#define BUMP counter += 1
#define CHECK(c) if (!(c)) __builtin_abort()
void f(void) {
  int counter[1] = {0}, other = 0;
#pragma omp target device(ancestor: 1) map(tofrom: counter, other)
  { int k = other; CHECK(other == k); counter[0] += 1; }
#pragma omp target device(ancestor: 1) map(tofrom: other)
  {
#define OTHER other++
    OTHER;
  }
}
