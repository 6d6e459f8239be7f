// Tiles of loops that name no level: gangs share the tiles, workers and lanes their elements.
#include <stdio.h>

enum { ROWS = 100, COLUMNS = 70, PLANES = 11 };
static int out[ROWS][COLUMNS], cubes[PLANES][20][30];

#pragma acc routine seq
static int mixed(int i, int j) {
  int parts[3] = {i * 31, j * 7, i ^ j};
  return parts[(i + j) % 3] + parts[i % 3];
}

int main(void) {
  long sum = 0, expected = 0;
  int most = 0;
#pragma acc parallel loop tile(8, 16) num_workers(4) vector_length(32) reduction(+ : sum) reduction(max : most) copyout(out)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      int value = mixed(i, j);
      out[i][j] = value;
      sum += value;
      if (value > most) most = value;
    }
  int found = 0;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      if (out[i][j] != mixed(i, j)) return printf("%d %d: %d\n", i, j, out[i][j]), 1;
      expected += out[i][j];
      if (out[i][j] > found) found = out[i][j];
    }
  if (sum != expected || most != found) return printf("%ld, %ld; %d, %d\n", sum, expected, most, found), 1;
#pragma acc parallel num_workers(2) copyout(cubes)
#pragma acc loop tile(*, *, *)
  for (int i = 0; i < PLANES; i++)
    for (int j = 0; j < 20; j++)
      for (int k = 0; k < 30; k++) cubes[i][j][k] = i * 600 + j * 30 + k;
  for (int i = 0; i < PLANES * 600; i++)
    if (cubes[i / 600][i / 30 % 20][i % 30] != i) return printf("%d\n", i), 1;
  // No pointer and no other iteration is in the way of this: the function has only its arguments.
#pragma acc kernels copy(out)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) out[i][j] -= mixed(i, j);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    if (out[i / COLUMNS][i % COLUMNS] != 0) return printf("%d of the rest\n", i), 1;
  puts("ok");
}
