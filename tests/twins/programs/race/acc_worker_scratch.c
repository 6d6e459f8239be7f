// A scratch array for each gang that workers and vectors fill. Wrong: it is one for all gangs.
// with: openacc gcc-openacc
#include <stdio.h>
#define N 40
#define M 64
int main(void) {
  static float in[N][M], out[N];
  float scratch[M];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      in[i][j] = i + j;
#ifdef WRONG
#pragma acc parallel loop gang copyin(in) copyout(out) create(scratch)
#else
#pragma acc parallel loop gang copyin(in) copyout(out) private(scratch)
#endif
  for (int i = 0; i < N; i++) {
#pragma acc loop vector
    for (int j = 0; j < M; j++)
      scratch[j] = in[i][j] * in[i][j]; // finds
    float sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int j = 0; j < M; j++)
      sum += scratch[M - 1 - j];
    out[i] = sum;
  }
  printf("%g\n", out[1]);
  return 0;
}
