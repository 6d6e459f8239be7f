// A region writes every other element of what comes back.
// with: openmp gcc
#include <stdio.h>

#ifdef WRONG
#define STEP 2
#else
#define STEP 1
#endif

int main(void)
{
  int a[400]; // finds: copied back
#pragma omp target teams distribute parallel for map(from: a)
  for (int i = 0; i < 400; i += STEP)
    a[i] = i;
  printf("%d\n", a[4]);
  return 0;
}
