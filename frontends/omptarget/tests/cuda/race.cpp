// A loop whose iterations use each other's elements, and one whose iterations do not.
#include <cstdio>
#include <cstring>

int main(int, char **arguments) {
  const bool wrong = std::strcmp(arguments[1], "wrong") == 0;
  const int count = 100, step = wrong;
  double *values = new double[count + 1]();
#pragma omp target teams distribute parallel for map(tofrom: values[0:count + 1]) num_teams(1)
  for (int i = 0; i < count; i++) values[i] = values[i + step] + 1;
  std::puts("done");
  delete[] values;
}
