// A scratch array that all threads share, or that each has.
// with: openmp gcc
#include <cstdio>

int main()
{
  int out[256], scratch[4] = {};
#ifdef WRONG
#pragma omp target teams distribute parallel for map(from: out) map(tofrom: scratch)
#else
#pragma omp target teams distribute parallel for map(from: out) firstprivate(scratch)
#endif
  for (int i = 0; i < 256; ++i) {
    for (int k = 0; k < 4; ++k)
      scratch[k] = i * k; // finds
    out[i] = scratch[3];
  }
  std::printf("%d\n", out[5] > -1);
}
