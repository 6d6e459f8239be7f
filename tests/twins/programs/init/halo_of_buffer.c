// A buffer of `omp_target_alloc` whose inner part is copied: its ends are set. Wrong: only one is.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
int main(void) {
  int host = omp_get_initial_device(), device = omp_get_default_device();
  double in[N], out[N];
  for (int i = 0; i < N; i++)
    in[i] = i;
  double *buffer = omp_target_alloc((N + 2) * sizeof(double), device);
  omp_target_memcpy(buffer, in, N * sizeof(double), sizeof(double), 0, device, host);
#pragma omp target is_device_ptr(buffer)
  {
    buffer[0] = 0;
#ifndef WRONG
    buffer[N + 1] = 0;
#endif
  }
#pragma omp target teams distribute parallel for is_device_ptr(buffer) map(from : out)
  for (int i = 0; i < N; i++)
    out[i] = buffer[i] + buffer[i + 1] + buffer[i + 2]; // finds
  printf("%g\n", out[N - 1]);
  omp_target_free(buffer, device);
  return 0;
}
