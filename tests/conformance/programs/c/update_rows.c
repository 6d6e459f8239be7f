// covers: target update of a rectangle of a matrix: contiguous parts of several rows
// stock: differs(-22) because it moves only the first element of each row
#include <stdio.h>

enum { N = 5, M = 6 };

static void show(int m[N][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++) printf("%d%c", m[i][j], j + 1 < M ? ' ' : '\n');
  }
  printf("\n");
}

int main(void) {
  static int g[N][M], h[N][M], c[2][3][4];
#pragma omp target data map(to : g, h, c)
  {
#pragma omp target
    for (int i = 0; i < N * M; i++) (&g[0][0])[i] = (&h[0][0])[i] = i;
#pragma omp target update from(g[1 : 3][2 : 3])
    show(g);
#pragma omp target update from(h[0 : 3 : 2][4 : 2])
    show(h);
    for (int i = 0; i < N * M; i++) (&g[0][0])[i] = 99;
#pragma omp target update to(g[3 : 2][0 : 2])
#pragma omp target update from(g)
    show(g);
#pragma omp target
    for (int i = 0; i < 24; i++) (&c[0][0][0])[i] = i;
#pragma omp target update from(c[0 : 2][1 : 2][1 : 2])
    for (int i = 0; i < 24; i++) printf("%d ", (&c[0][0][0])[i]);
    printf("\n");
  }
  return 0;
}
