// The host writes what the device has written, after the copy back or before it.
// with: openmp
// device: cpu
#include <stdio.h>

int main(void)
{
  int a[1024];
  for (int i = 0; i < 1024; ++i)
    a[i] = i;
#pragma omp target enter data map(to : a)
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 1024; ++i)
    a[i] = -i;
#ifdef WRONG
  a[0] = 7;
#endif
#pragma omp target exit data map(from : a) // finds: overwrites
  a[0] = 7;
  printf("%d\n", a[0]);
  return 0;
}
