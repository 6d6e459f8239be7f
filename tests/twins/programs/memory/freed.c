// Memory of the device that has been freed.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int device = omp_get_default_device();
  int *a = omp_target_alloc(64 * sizeof *a, device);
#ifdef WRONG
  omp_target_free(a, device);
#endif
#pragma omp target is_device_ptr(a) device(device)
  for (int i = 0; i < 64; ++i)
    a[i] = i; // finds: write
#ifndef WRONG
  omp_target_free(a, device);
#endif
  return puts("done") < 0;
}
