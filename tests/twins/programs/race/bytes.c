// Bytes of one word, each a thread's own or not.
// with: openmp gcc openacc gcc-openacc
#include <stdio.h>

int main(void)
{
  char a[256] = {0};
#ifdef _OPENACC
#pragma acc parallel loop copy(a)
#else
#pragma omp target teams distribute parallel for map(tofrom: a)
#endif
  for (int i = 0; i < 256; ++i) {
#ifdef WRONG
    a[i * i % 251] = (char)i; // finds
#else
    a[i] = (char)i;
#endif
  }
  printf("%d\n", a[3] >= 0);
  return 0;
}
