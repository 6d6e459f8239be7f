// Data is entered twice and left once, so that nothing is copied back.
// with: openmp
// options: -O1 -g --check=map
#include <cstdio>

struct Field {
  double values[200];
  Field() {
    for (double &value : values)
      value = 1;
#pragma omp target enter data map(to: this[0:1])
  }
};

int main()
{
  Field field;
#ifdef WRONG
#pragma omp target enter data map(to: field)
#endif
#pragma omp target map(alloc: field)
  for (int i = 0; i < 200; ++i)
    field.values[i] *= 3;
#pragma omp target exit data map(from: field)
  double sum = 0;
  for (int i = 0; i < 200; ++i)
    sum += field.values[i]; // finds: the host reads
#ifdef WRONG
#pragma omp target exit data map(delete: field)
#endif
  std::printf("%g\n", sum);
}
