// An object keeps its data on the device. A setter updates what it has set, or forgets to.
// with: openmp
#include <cstdio>

class Filter {
public:
  Filter()
  {
    for (double &weight : weights)
      weight = 1;
#pragma omp target enter data map(to : this[0 : 1])
  }
  ~Filter()
  {
#pragma omp target exit data map(delete : this[0 : 1])
  }
  void set(int at, double weight)
  {
    weights[at] = weight;
#ifndef WRONG
#pragma omp target update to(weights[at : 1])
#endif
  }
  double sum()
  {
    double all = 0;
#pragma omp target map(tofrom : all)
    for (int i = 0; i < 16; ++i)
      all += weights[i]; // finds: a kernel reads
    return all;
  }

private:
  double weights[16];
};

int main()
{
  Filter filter;
  filter.set(3, 5);
  std::printf("%g\n", filter.sum());
  return 0;
}
