// Random walks counted in an array: a reduction over the array. Wrong: only of the number of steps.
// with: openmp
#include <stdio.h>
#define BINS 16
int main(void) {
  int h[BINS] = {0};
  long steps = 0;
#ifdef WRONG
#pragma omp target teams distribute parallel for reduction(+ : steps) map(tofrom : h)
#else
#pragma omp target teams distribute parallel for reduction(+ : steps, h[0 : BINS]) map(tofrom : h)
#endif
  for (int i = 0; i < 400; i++) {
    unsigned seed = i * 2654435761u + 12345;
    int at = 0;
    for (int k = 0; k < 10; k++) {
      seed = seed * 1103515245 + 12345;
      at += (seed >> 16) & 1;
      steps++;
    }
    h[at]++; // finds: h
  }
  int all = 0;
  for (int i = 0; i < BINS; i++)
    all += h[i];
  printf("%ld %d\n", steps, all);
  return 0;
}
