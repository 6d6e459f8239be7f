// A counter that is added to atomically and read as any variable.
// GCC's code is the same for both.
// with: openmp
#include <stdio.h>

int main(void)
{
  int count = 0, seen[256];
#pragma omp target teams distribute parallel for map(tofrom: count) map(from: seen)
  for (int i = 0; i < 256; ++i) {
#pragma omp atomic
    count += 1;
#ifdef WRONG
    seen[i] = count; // finds
#else
    int now;
#pragma omp atomic read
    now = count;
    seen[i] = now;
#endif
  }
  printf("%d\n", count + 0 * seen[0]);
  return 0;
}
