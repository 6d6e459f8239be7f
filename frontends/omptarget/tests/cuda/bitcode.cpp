// Device code that is compiled when the program runs: a kernel with a reduction, shared variables, a table of
// constants, a variable of the device's, and maths.
#include <cmath>
#include <cstdio>
#include <omp.h>

#pragma omp declare target
static const double table[4] = {1, 2, 3, 4};
int calls = 0;
#pragma omp end declare target

int main() {
  double sum = 0, root = 0;
  int on_host = -1, device = -1;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; ++i)
    sum += table[i % 4] * i;
#pragma omp target map(from : on_host, device, root)
  {
    on_host = omp_is_initial_device();
    device = omp_get_device_num();
    ++calls;
    root = std::sqrt(sum);
  }
#pragma omp target update from(calls)
  std::printf("%s: %g, %.6f, %d calls\n", on_host ? "host" : "device", sum, root, calls);
  return device != (on_host ? omp_get_num_devices() : 0);
}
