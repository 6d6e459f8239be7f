// covers: two buffers that swap their pointers between regions inside target data (ping-pong)
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  enum { N = 64, M = 48 };
  double *u = calloc(N * M, sizeof *u), *v = calloc(N * M, sizeof *v);
  double *first = u;
  for (int j = 0; j < M; j++) u[j] = v[j] = 100;
#pragma omp target data map(tofrom : u[0 : N * M], v[0 : N * M])
  for (int step = 0; step < 25; step++) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        v[i * M + j] = 0.25 * (u[(i - 1) * M + j] + u[(i + 1) * M + j] + u[i * M + j - 1] + u[i * M + j + 1]);
    double *t = u;
    u = v;
    v = t;
  }
  double sum = 0;
  for (int i = 0; i < N * M; i++) sum += u[i];
  printf("%.6f %.6f %d\n", sum, u[5 * M + 20], first == v);
  free(u);
  free(v);
  return 0;
}
