// covers: map and motion clauses with iterators
// flags: -fopenmp-version=52
#include <stdio.h>

int main(void) {
  int a[8];
  for (int i = 0; i < 8; i++) a[i] = i;
#pragma omp target enter data map(to : a)
#pragma omp target
  for (int i = 0; i < 8; i++) a[i] += 10;
#pragma omp target update from(iterator(int i = 0 : 4) : a[2 * i])
  for (int i = 0; i < 8; i++) printf("%d ", a[i]);
  printf("\n");
#pragma omp target exit data map(delete : a)
  return 0;
}
