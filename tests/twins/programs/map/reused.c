// Memory is freed while the device has something newer, and used for something else; or it is read before.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
  int sum = 0;
  for (int step = 0; step < 3; ++step) {
    int n = 16384, *a = malloc(n * sizeof *a);
    memset(a, 0, n * sizeof *a);
#pragma omp target teams distribute parallel for map(to : a[0:n])
    for (int i = 0; i < n; ++i)
      a[i] = i;
#ifdef WRONG
    for (int i = 0; i < n; ++i)
      sum += a[i]; // finds: the host reads
#endif
    free(a);
    int *b = malloc(n * sizeof *b);
    for (int i = 0; i < n; ++i)
      b[i] = i + step;
    for (int i = 0; i < n; ++i)
      sum ^= b[i];
    free(b);
  }
  printf("%d\n", sum);
  return 0;
}
