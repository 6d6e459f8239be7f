// A parameter that `declare target` gives the device, and the host changes.
// with: openmp gcc
#include <stdio.h>

#pragma omp declare target
double dt = 0.5;
#pragma omp end declare target

int main(void)
{
  double x[64], t = 0;
  for (int i = 0; i < 64; ++i)
    x[i] = i;
  for (int step = 0; step < 3; ++step) {
    dt = 0.5 / (step + 1);
#ifndef WRONG
#pragma omp target update to(dt)
#endif
#pragma omp target teams distribute parallel for map(tofrom: x)
    for (int i = 0; i < 64; ++i)
      x[i] += dt;
    t += dt;
  }
  printf("%g %g\n", x[3], t);
  return 0;
}
