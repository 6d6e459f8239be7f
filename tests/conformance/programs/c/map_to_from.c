// covers: map(to), map(from), map(tofrom), map(alloc) on scalars and arrays
#include <stdio.h>

int main(void) {
  int in[8], out[8], both[8], scratch[8];
  int scale = 3, sum = 0;
  for (int i = 0; i < 8; i++) {
    in[i] = i + 1;
    out[i] = -1;
    both[i] = 10 * i;
    scratch[i] = 77;
  }
#pragma omp target map(to : in, scale) map(from : out) map(tofrom : both, sum) map(alloc : scratch)
  {
    for (int i = 0; i < 8; i++) {
      scratch[i] = in[i] * scale;
      out[i] = scratch[i] + 1;
      both[i] += out[i];
      sum += both[i];
    }
    in[0] = 999;  // Changes of a `to` variable stay on the device.
    scale = 999;
  }
  for (int i = 0; i < 8; i++)
    printf("%d %d %d %d\n", in[i], out[i], both[i], scratch[i]);
  printf("sum %d scale %d\n", sum, scale);
  return 0;
}
