// A flag of the file that routines of the device read. Wrong: the device does not hear of its change. (GCC 12 makes nothing of
// an update of what is declared.)
// with: openacc
#include <stdio.h>
#define N 100
int mode;
#pragma acc declare create(mode)
#pragma acc routine seq
static int value(int i) { return mode == 1 ? 2 * i : i; } // finds: mode
int main(void) {
  int out[N];
  mode = 0;
#pragma acc update device(mode)
#pragma acc parallel loop copyout(out)
  for (int i = 0; i < N; i++)
    out[i] = value(i);
  mode = 1;
#ifndef WRONG
#pragma acc update device(mode)
#endif
#pragma acc parallel loop copy(out)
  for (int i = 0; i < N; i++)
    out[i] += value(i);
  printf("%d\n", out[7]);
  return 0;
}
