// as without OpenACC
// Variables of around that each iteration of independent loops writes before it reads them, in memory of the device as
// they are read behind or a data clause names them. What is there behind is the last iteration's value.
#include <stdio.h>

enum { N = 300, M = 40 };

struct pair { double x, y; };

static int in[N][M], out[N][M];
static struct pair pairs[N];

int main(void) {
  int t = -1, index = -1, found = -1;
  double sum = 0, d = -1;
  struct pair both = {0, 0};
  for (int i = 0; i < N; i++) {
    pairs[i].x = i % 7, pairs[i].y = i % 5;
    for (int j = 0; j < M; j++) in[i][j] = (i * 7 + j * 3) % 101;
  }
#pragma acc kernels loop independent gang
  for (int i = 0; i < N; i++) {
    index = N - 1 - i;
#pragma acc loop independent worker vector
    for (int j = 0; j < M; j++) out[i][j] = in[index][j];
  }
  printf("%d\n", index);
#pragma acc data copy(d, t, found)
  {
#pragma acc parallel loop gang worker vector collapse(2)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        d = in[i][j] * 0.5;
        if (d > 20)
          t = 3;
        else
          t = 5;
        out[i][j] += (int)(d * t);
        if (i == 17 && j == 3) found = i * M + j;
      }
  }
  printf("%g %d %d\n", d, t, found);
#pragma acc kernels loop independent gang worker
  for (int i = 0; i < N; i++) {
    t = out[i][0] + 1;
    out[i][1] = t * t;
  }
  printf("%d\n", t);
#pragma acc parallel loop copy(both)
  for (int i = 0; i < N; i++) {
    both = pairs[i];
    out[i][2] += (int)(both.x * 10 + both.y);
  }
  printf("%g %g\n", both.x, both.y);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) sum += out[i][j] * (double)(j + 1);
  printf("%.1f\n", sum);
  return 0;
}
