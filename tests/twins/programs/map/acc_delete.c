// What is read later is copied out, or deleted.
// with: openacc gcc-openacc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 1 << 14;
  int *a = calloc(n, sizeof *a), sum = 0;
#pragma acc enter data copyin(a[0:n])
#pragma acc parallel loop present(a[0:n])
  for (int i = 0; i < n; ++i)
    a[i] = i;
#ifdef WRONG
#pragma acc exit data delete(a[0:n])
#else
#pragma acc exit data copyout(a[0:n])
#endif
  for (int i = 0; i < n; ++i)
    sum ^= a[i]; // finds: the host reads
  printf("%d\n", sum);
  free(a);
  return 0;
}
