// The ends of a field are fetched, of which one is read or more. The program tells its accesses.
// with: openmp
// options: -O1 -g --check=map
// device: cpu
#include <cstdio>
#include <vector>

int main()
{
  std::vector<float> field(1000, 1.0f);
  float *p = field.data();
#pragma omp target data map(tofrom : p[0 : 1000])
  {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 1000; ++i)
      p[i] += i;
#pragma omp target update from(p[0 : 10])
    float sum = 0;
#ifdef WRONG
    for (int i = 0; i <= 10; ++i)
#else
    for (int i = 0; i < 10; ++i)
#endif
      sum += p[i]; // finds: `p[10]`
    std::printf("%g\n", sum);
  }
  return 0;
}
