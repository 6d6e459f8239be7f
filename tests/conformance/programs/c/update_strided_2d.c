// covers: target update of non-contiguous sections in two and three dimensions, some with strides
#include <stdio.h>

int main(void) {
  static int g[6][8], c[3][4][5];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 8; j++) g[i][j] = 10 * i + j;
  for (int i = 0; i < 60; i++) (&c[0][0][0])[i] = i;
#pragma omp target data map(to : g, c)
  {
#pragma omp target
    {
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 8; j++) g[i][j] += 1000;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
          for (int k = 0; k < 5; k++) c[i][j][k] += 500;
    }
#pragma omp target update from(g[1 : 3][2 : 4])
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 8; j++) printf("%5d", g[i][j]);
      printf("\n");
    }
#pragma omp target update from(g[0 : 3 : 2][0 : 2 : 5])
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 8; j++) printf("%5d", g[i][j]);
      printf("\n");
    }
#pragma omp target update from(c[0 : 2][1 : 2][0 : 3 : 2])
    for (int i = 0; i < 60; i++) printf("%d ", (&c[0][0][0])[i]);
    printf("\n");
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 8; j++) g[i][j] = 1;
#pragma omp target update to(g[2 : 2][0 : 8 : 7])
    int sum = 0;
#pragma omp target map(from : sum)
    {
      sum = 0;
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 8; j++) sum += g[i][j];
    }
    printf("%d\n", sum);
  }
  return 0;
}
