// A mapper that takes the elements of a list along: to the device and back, or to the device alone.
// with: openmp
// options: -O1 -g --check=map -fopenmp-version=51
#include <stdio.h>
#include <stdlib.h>

struct list {
  int n;
  int *items;
};
#ifdef WRONG
#pragma omp declare mapper(struct list l) map(to: l, l.n, l.items[0:l.n])
#else
#pragma omp declare mapper(struct list l) map(to: l, l.n) map(tofrom: l.items[0:l.n])
#endif

int main(void)
{
  struct list l = {3000, malloc(3000 * sizeof(int))};
  long sum = 0;
  for (int i = 0; i < l.n; ++i)
    l.items[i] = i;
#pragma omp target teams distribute parallel for map(tofrom: l)
  for (int i = 0; i < l.n; ++i)
    l.items[i] += 1;
  for (int i = 0; i < l.n; ++i)
    sum += l.items[i]; // finds: the host reads
  printf("%ld\n", sum);
  free(l.items);
  return 0;
}
