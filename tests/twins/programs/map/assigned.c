// The host copies a structure as a whole, which the device has changed.
// with: openmp
// options: -O0 -g --check=map
#include <stdio.h>

struct state {
  double position[3], velocity[3];
  int steps;
};

int main(void)
{
  struct state states[40], copy;
  double sum = 0;
  for (int i = 0; i < 40; ++i)
    states[i] = (struct state){{i, i, i}, {1, 2, 3}, 0};
#pragma omp target enter data map(to: states)
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 40; ++i) {
    for (int k = 0; k < 3; ++k)
      states[i].position[k] += states[i].velocity[k];
    states[i].steps += 1;
  }
#ifndef WRONG
#pragma omp target update from(states)
#endif
  for (int i = 0; i < 40; ++i) {
    copy = states[i]; // finds: the host reads
    sum += copy.position[0] + copy.steps;
  }
#pragma omp target exit data map(release: states)
  printf("%g\n", sum);
  return 0;
}
