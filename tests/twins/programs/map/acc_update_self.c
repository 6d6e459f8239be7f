// The host writes a file of what a queue has computed: with an update and a wait, or with the wait alone.
// with: openacc gcc-openacc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 1 << 14;
  int *a = calloc(n, sizeof *a), sum = 0;
#pragma acc enter data copyin(a[0:n])
  for (int step = 0; step < 2; ++step) {
#pragma acc parallel loop present(a[0:n]) async(1)
    for (int i = 0; i < n; ++i)
      a[i] += i;
#ifndef WRONG
#pragma acc update self(a[0:n]) async(1)
#endif
#pragma acc wait(1)
    for (int i = 0; i < n; ++i)
      sum ^= a[i]; // finds: the host reads
  }
#pragma acc exit data delete(a[0:n])
  printf("%d\n", sum);
  free(a);
  return 0;
}
