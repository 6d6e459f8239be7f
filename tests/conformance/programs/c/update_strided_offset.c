// covers: target update of strided sections that start behind the first element
// stock: differs(-22) because it multiplies the start of a strided section with its stride
#include <stdio.h>

int main(void) {
  static int a[24];
#pragma omp target enter data map(to : a)
#pragma omp target
  for (int i = 0; i < 24; i++) a[i] = i;
#pragma omp target update from(a[2 : 4 : 5])
  for (int i = 0; i < 24; i++) printf("%d ", a[i]);
  printf("\n");
#pragma omp target update from(a[1 : 3 : 2])
  for (int i = 0; i < 24; i++) printf("%d ", a[i]);
  printf("\n");
#pragma omp target exit data map(delete : a)
  return 0;
}
