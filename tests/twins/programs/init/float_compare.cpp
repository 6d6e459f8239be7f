// Numbers go through functions before something depends on them.
// with: openmp openacc
#include <cmath>
#include <cstdio>

int main()
{
  float a[128], largest = 0;
  for (int i = 0; i < 128; ++i)
    a[i] = i;
#ifdef _OPENACC
#ifdef WRONG
#pragma acc parallel create(a) copy(largest)
#else
#pragma acc parallel copyin(a) copy(largest)
#endif
#else
#ifdef WRONG
#pragma omp target map(alloc: a) map(tofrom: largest)
#else
#pragma omp target map(to: a) map(tofrom: largest)
#endif
#endif
  {
    for (int i = 0; i < 128; ++i) {
      float root = std::sqrt(a[i] + 1.0f); // finds
      if (root > largest)
        largest = root;
    }
  }
  std::printf("%g\n", largest);
}
