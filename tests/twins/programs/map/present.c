// An array that is mapped already is mapped again: `to` copies nothing then, `always, to` does.
// with: openmp gcc
#include <stdio.h>

#ifdef WRONG
#define MAP to
#else
#define MAP always, to
#endif

int main(void)
{
  int a[100], sum = 0;
  for (int i = 0; i < 100; ++i)
    a[i] = 1;
#pragma omp target enter data map(to : a)
  for (int i = 0; i < 100; ++i)
    a[i] = 2;
#pragma omp target teams distribute parallel for map(MAP : a) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < 100; ++i)
    sum += a[i]; // finds: a kernel reads
#pragma omp target exit data map(release : a)
  printf("%d\n", sum);
  return 0;
}
