// A class that maps its data where it is made: its end unmaps it, or forgets to.
// with: openmp
#include <cstdio>

class buffer {
  int *data;
  int n;

public:
  explicit buffer(int count) : data(new int[count]()), n(count)
  {
#pragma omp target enter data map(to: data[0:n]) // finds: nothing has unmapped
  }
  ~buffer()
  {
#ifndef WRONG
#pragma omp target exit data map(delete: data[0:n])
#endif
  }
  void fill()
  {
    int *all = data, count = n;
#pragma omp target teams distribute parallel for
    for (int i = 0; i < count; ++i)
      all[i] = i;
  }
};

int main()
{
  for (int i = 1; i < 4; ++i) {
    buffer one(100 * i);
    one.fill();
  }
  std::puts("done");
}
