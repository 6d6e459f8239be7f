// A global array that OpenACC has on the device: the host's new values are sent there, or not.
// with: openacc
#include <stdio.h>

static float weights[1000];
#pragma acc declare create(weights)

int main(void)
{
  float sum = 0;
  for (int i = 0; i < 1000; ++i)
    weights[i] = i % 7;
#pragma acc update device(weights)
  for (int step = 0; step < 3; ++step) {
#pragma acc parallel loop reduction(+: sum) present(weights)
    for (int i = 0; i < 1000; ++i)
      sum += weights[i]; // finds: a kernel reads an old value
    for (int i = 0; i < 1000; ++i)
      weights[i] += 1;
#ifndef WRONG
#pragma acc update device(weights)
#endif
  }
  printf("%g\n", sum);
  return 0;
}
