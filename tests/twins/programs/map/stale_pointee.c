// A global pointer of the device, whose array the host goes on to change.
// with: openmp gcc
#include <stdio.h>
#include <stdlib.h>

#pragma omp declare target
int *table;
#pragma omp end declare target

int main(void)
{
  int n = 100, sum = 0;
  table = malloc(n * sizeof *table);
  for (int i = 0; i < n; ++i)
    table[i] = i;
#pragma omp target enter data map(to: table[0:n])
  for (int i = 0; i < n; ++i)
    table[i] += 1;
#ifndef WRONG
#pragma omp target update to(table[0:n])
#endif
#pragma omp target map(tofrom: sum) map(alloc: table[0:n])
  for (int i = 0; i < n; ++i)
    sum += table[i]; // finds: a kernel reads
#pragma omp target exit data map(release: table[0:n])
  printf("%d\n", sum);
  free(table);
  return 0;
}
