// The greatest element and where it is, behind `critical`. Wrong: a look before it without.
// with: openmp gcc
#include <stdio.h>
#define N 300
int main(void) {
  float a[N];
  for (int i = 0; i < N; i++)
    a[i] = (i * 97) % 211;
  float best = -1;
  int where = -1;
#pragma omp target map(to : a) map(tofrom : best, where)
#pragma omp parallel for num_threads(32)
  for (int i = 0; i < N; i++) {
#ifdef WRONG
    if (a[i] > best) // finds
#endif
#pragma omp critical(greatest)
    {
      if (a[i] > best) {
        best = a[i];
        where = i;
      }
    }
  }
  printf("%g %d\n", best, where);
  return 0;
}
