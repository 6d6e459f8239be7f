// The result stays on a processor as device, or comes back.
// with: openmp
// device: cpu
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 8192;
  double *a = malloc(n * sizeof *a), sum = 0;
  for (int i = 0; i < n; ++i)
    a[i] = i;
#pragma omp target enter data map(to : a[0:n])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i)
    a[i] = a[i] * 2 + 1;
#ifdef WRONG
#pragma omp target exit data map(release : a[0:n])
#else
#pragma omp target exit data map(from : a[0:n])
#endif
  for (int i = 0; i < n; ++i)
    sum += a[i]; // finds: the host reads
  printf("%g\n", sum);
  free(a);
  return 0;
}
