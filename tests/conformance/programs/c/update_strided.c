// covers: target update of non-contiguous sections with strides in one, two and three dimensions
//
// A dimension with a stride starts at 0 here: clang-22 passes its start in elements, and
// the runtime has to multiply it with the stride, so any other start is the compiler's error.
#include <stdio.h>

int main(void) {
  static int a[20], b[20], g[6][8], c[3][4][5];
  for (int i = 0; i < 20; i++) {
    a[i] = i;
    b[i] = -i;
  }
  for (int i = 0; i < 48; i++) (&g[0][0])[i] = i;
  for (int i = 0; i < 60; i++) (&c[0][0][0])[i] = i;
#pragma omp target data map(to : a, b, g, c)
  {
#pragma omp target
    {
      for (int i = 0; i < 20; i++) {
        a[i] += 100;
        b[i] -= 100;
      }
      for (int i = 0; i < 48; i++) (&g[0][0])[i] += 1000;
      for (int i = 0; i < 60; i++) (&c[0][0][0])[i] += 500;
    }
#pragma omp target update from(a[0 : 5 : 4])
    for (int i = 0; i < 20; i++) printf("%d ", a[i]);
    printf("\n");
#pragma omp target update from(b[0 : 3 : 3], a[0 : 2 : 8])
    for (int i = 0; i < 20; i++) printf("%d %d ", b[i], a[i]);
    printf("\n");
    for (int i = 0; i < 20; i++) a[i] = 7;
#pragma omp target update to(a[0 : 4 : 5])
#pragma omp target update from(a)
    for (int i = 0; i < 20; i++) printf("%d ", a[i]);
    printf("\n");
#pragma omp target update from(g[0 : 3 : 2][0 : 2 : 5])
    for (int i = 0; i < 48; i++) printf("%d%c", (&g[0][0])[i], i % 8 == 7 ? '\n' : ' ');
#pragma omp target update from(c[0 : 2][1 : 2][0 : 3 : 2])
    for (int i = 0; i < 60; i++) printf("%d%c", (&c[0][0][0])[i], i % 20 == 19 ? '\n' : ' ');
    for (int i = 0; i < 48; i++) (&g[0][0])[i] = 1;
#pragma omp target update to(g[2 : 2][0 : 2 : 7])
    int sum = 0;
#pragma omp target map(from : sum)
    {
      sum = 0;
      for (int i = 0; i < 48; i++) sum += (&g[0][0])[i];
    }
    printf("%d\n", sum);
  }
  return 0;
}
