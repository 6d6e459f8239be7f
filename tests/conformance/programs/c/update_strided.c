// covers: target update of non-contiguous sections with strides, one dimension
//
// A section with a stride starts at 0 here: clang-22 passes the start of a strided
// dimension in elements, and the stock library multiplies it with the stride.
#include <stdio.h>

int main(void) {
  int a[20], b[20];
  for (int i = 0; i < 20; i++) {
    a[i] = i;
    b[i] = -i;
  }
#pragma omp target data map(to : a, b)
  {
#pragma omp target
    for (int i = 0; i < 20; i++) {
      a[i] += 100;
      b[i] -= 100;
    }
#pragma omp target update from(a[0 : 5 : 4])
    for (int i = 0; i < 20; i++) printf("%d ", a[i]);
    printf("\n");
#pragma omp target update from(b[0 : 3 : 3], a[0 : 2 : 8])
    for (int i = 0; i < 20; i++) printf("%d ", b[i]);
    printf("\n");
    for (int i = 0; i < 20; i++) printf("%d ", a[i]);
    printf("\n");
    for (int i = 0; i < 20; i++) a[i] = 7;
#pragma omp target update to(a[0 : 4 : 5])
#pragma omp target update from(a)
    for (int i = 0; i < 20; i++) printf("%d ", a[i]);
    printf("\n");
  }
  return 0;
}
