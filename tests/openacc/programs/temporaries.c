// as without OpenACC
// Variables that are declared before `kernels`, and that each iteration writes before it reads them: iterations do not see
// each other's values. What is read behind the construct is the last one.
#include <stdio.h>

enum { N = 200, M = 30 };

static double a[N], b[N], grid[N][M];

int main(void) {
  int i, j, index, last = -1, count = 0;
  double t, u, low = 7;
  for (i = 0; i < N; i++) a[i] = i % 17;
#pragma acc kernels loop independent
  for (i = 0; i < N; i++) {
    t = a[i] * 2;
    if (t > 10)
      u = t - 10;
    else
      u = 10 - t;
    b[i] = t + u;
  }
#pragma acc kernels
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++) {
      index = (i + j) % N;
      t = b[index] + a[i];
      grid[i][j] = t * t;
    }
#pragma acc kernels
  {
    for (i = 0; i < N; i++) {
      index = N - 1 - i;
      a[index] = grid[index][3];
    }
    for (i = 0; i < N; i++) {
      last = i;
      t = a[i];
      if (t > 100) low = t;
    }
  }
  printf("%d %g\n", last, low);
  for (int step = 0; step < 3; step++) {
    if (step > 0) count += (int)u;
#pragma acc kernels
    for (i = 0; i < N; i++) {
      u = a[i] + step;
      b[i] += u;
    }
  }
  double sum = count;
  for (i = 0; i < N; i++) sum += a[i] + b[i] * (i % 3) + grid[i][i % M];
  printf("%.1f\n", sum);
  return 0;
}
