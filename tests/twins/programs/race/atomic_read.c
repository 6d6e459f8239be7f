// A counter that is added to atomically and read atomically, or written as any variable.
// with: openmp gcc
#include <stdio.h>

int main(void)
{
  int count = 0, seen[256];
#pragma omp target teams distribute parallel for map(tofrom: count) map(from: seen)
  for (int i = 0; i < 256; ++i) {
#ifdef WRONG
    count = i; // finds
#else
#pragma omp atomic
    count += 1;
#endif
    int now;
#pragma omp atomic read
    now = count;
    seen[i] = now;
  }
  printf("%d\n", 0 * seen[0]);
  return 0;
}
