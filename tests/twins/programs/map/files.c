// A file is read into what the device has changed, and written from it: after a copy back, or without.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  int n = 1 << 15, *a = malloc(n * sizeof *a);
  FILE *file = tmpfile();
  for (int i = 0; i < n; ++i)
    a[i] = 1;
#pragma omp target enter data map(to : a[0:n])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i)
    a[i] += i;
#ifndef WRONG
#pragma omp target update from(a[0:n])
#endif
  if (fwrite(a, sizeof *a, n, file) != (size_t)n) // finds: the host reads
    return 1;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma omp target exit data map(delete : a[0:n])
  rewind(file);
  if (fread(a, sizeof *a, n, file) != (size_t)n)
    return 1;
  long sum = 0;
  for (int i = 0; i < n; ++i)
    sum += a[i];
  printf("%ld\n", sum);
  fclose(file);
  free(a);
  return 0;
}
