// Two regions that go on at the same time, or of which one depends on the other.
// with: openmp
#include <stdio.h>

int main(void)
{
  enum { N = 4000 };
  static int a[N];
#pragma omp target data map(tofrom: a)
  {
#pragma omp target teams distribute parallel for nowait depend(out: a)
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < 20; ++k)
        a[i] += k; // finds: two kernels
#ifdef WRONG
#pragma omp target teams distribute parallel for nowait
#else
#pragma omp target teams distribute parallel for nowait depend(inout: a)
#endif
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < 20; ++k)
        a[i] += 2 * k;
#pragma omp taskwait
  }
  printf("%d\n", a[7]);
  return 0;
}
