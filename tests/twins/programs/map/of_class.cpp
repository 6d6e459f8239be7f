// A class whose object keeps its data on the device, and fetches it when the host asks for it, or not.
// with: openmp
// options: -O1 -g --check=map
#include <cstdio>

class field {
  double *data;
  int n;

public:
  explicit field(int count) : data(new double[count]), n(count)
  {
    for (int i = 0; i < n; ++i)
      data[i] = i;
#pragma omp target enter data map(to: this[0:1], data[0:n])
  }
  ~field()
  {
#pragma omp target exit data map(delete: data[0:n], this[0:1])
    delete[] data;
  }
  void scale(double factor)
  {
#pragma omp target teams distribute parallel for firstprivate(factor)
    for (int i = 0; i < n; ++i)
      data[i] *= factor;
  }
  double sum()
  {
#ifndef WRONG
#pragma omp target update from(data[0:n])
#endif
    double total = 0;
    for (int i = 0; i < n; ++i)
      total += data[i]; // finds: the host reads
    return total;
  }
};

int main()
{
  field one(700);
  one.scale(2);
  std::printf("%g\n", one.sum());
}
