// A reduction of a class of the user's, with a start. Wrong: the start leaves a member out.
// with: openmp
#include <cstdio>
struct extent {
  double low, high;
  int count;
};
static void start(extent &e) {
  e.low = 1e9;
#ifndef WRONG
  e.high = -1e9;
#endif
  e.count = 0;
}
#pragma omp declare target to(start)
#pragma omp declare reduction(merge : extent : omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low, \
        omp_out.high = omp_in.high > omp_out.high ? omp_in.high : omp_out.high, omp_out.count += omp_in.count) \
    initializer(start(omp_priv))
int main() {
  static double a[500];
  for (int i = 0; i < 500; i++)
    a[i] = i * 37 % 101;
  extent e{1e9, -1e9, 0}; // finds
#pragma omp target teams distribute parallel for reduction(merge : e) map(to : a) map(tofrom : e)
  for (int i = 0; i < 500; i++) {
    if (a[i] < e.low)
      e.low = a[i];
    if (a[i] > e.high)
      e.high = a[i];
    e.count++;
  }
  std::printf("%g %g %d\n", e.low, e.high, e.count);
}
