// An index that leaves one array and hits the next one.
// with: openmp
#include <cstdio>

int main()
{
  int a[16] = {}, b[16] = {};
#pragma omp target map(tofrom: a, b)
  {
    int *p = a;
#ifdef WRONG
    for (int i = 0; i < 20; ++i)
#else
    for (int i = 0; i < 16; ++i)
#endif
      p[i] = b[i % 16] + i; // finds: write
  }
  std::printf("%d\n", a[3]);
}
