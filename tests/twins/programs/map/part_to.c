// The host changes two parts of an array, and updates both or one.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int a[300], out[300];
  for (int i = 0; i < 300; ++i)
    a[i] = i;
#pragma omp target data map(to : a) map(from : out)
  {
    a[10] = -1;
    a[250] = -1;
#pragma omp target update to(a[0:100])
#ifndef WRONG
#pragma omp target update to(a[200:100])
#endif
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 300; ++i)
      out[i] = a[i]; // finds: byte 1000
  }
  printf("%d\n", out[10]);
  return 0;
}
