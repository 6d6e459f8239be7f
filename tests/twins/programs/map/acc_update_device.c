// The host changes the boundary of a field on the device: with an update behind, or without.
// with: openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  float in[256], out[256];
  for (int i = 0; i < 256; ++i)
    in[i] = out[i] = 0;
#pragma acc data copyin(in) copyout(out)
  {
    in[0] = 1;
    in[255] = 2;
#ifndef WRONG
#pragma acc update device(in[0:1])
#pragma acc update device(in[255:1])
#endif
#pragma acc parallel loop
    for (int i = 0; i < 256; ++i)
      out[i] = in[i]; // finds: a kernel reads
  }
  printf("%g\n", out[0]);
  return 0;
}
