// covers: collapse of two and three loops, non-rectangular loops, strides and downward loops
#include <stdio.h>

int main(void) {
  int g[7][9] = {{0}}, c[3][4][5] = {{{0}}}, tri[8][8] = {{0}}, count = 0;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : g)
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 9; j++) g[i][j] = i * 10 + j;
#pragma omp target teams distribute parallel for collapse(3) map(tofrom : c) reduction(+ : count)
  for (int i = 0; i < 3; i++)
    for (int j = 3; j >= 0; j--)
      for (int k = 0; k < 5; k += 2) {
        c[i][j][k] = i + j + k;
        count++;
      }
#pragma omp target parallel for collapse(2) map(tofrom : tri)
  for (int i = 0; i < 8; i++)
    for (int j = i; j < 8; j++) tri[i][j] = 1;
  int sg = 0, sc = 0, st = 0;
  for (int i = 0; i < 63; i++) sg += (&g[0][0])[i] * (i % 5);
  for (int i = 0; i < 60; i++) sc += (&c[0][0][0])[i] * (i % 7);
  for (int i = 0; i < 64; i++) st += (&tri[0][0])[i] * i;
  printf("%d %d %d %d\n", sg, sc, st, count);
  return 0;
}
