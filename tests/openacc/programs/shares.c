/* How iterations are divided: in tiles, in chunks of gangs, in as many gangs, workers and lanes as loops of
 * `kernels` say, and where loops that are collapsed have something between them. */
#include <stdio.h>

enum { ROWS = 61, COLUMNS = 37, LENGTH = 1000 };

static int matrix[ROWS][COLUMNS], list[LENGTH];
static int wrong;

static void check(const char *what) {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      if (matrix[i][j] != i * 100 + j && !wrong++) printf("%s: %d %d: %d\n", what, i, j, matrix[i][j]);
      matrix[i][j] = -1;
    }
}

static void tiles(void) {
#pragma acc parallel loop tile(8, 4) copyout(matrix)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("all levels");
#pragma acc parallel loop tile(*, 4) gang vector copyout(matrix)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("gangs and lanes");
#pragma acc parallel loop tile(3, 5) gang worker num_workers(3) copyout(matrix)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("gangs and workers");
#pragma acc parallel loop gang tile(3, *) copyout(matrix)
  for (int i = ROWS - 1; i >= 0; i--)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("gangs");
  int sum = 0;
#pragma acc parallel loop tile(7, 7, 2) reduction(+ : sum)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      for (int k = 0; k < 3; k++) {
        if (k == 2) continue;
        sum += i * j + k;
      }
  wrong += sum != 2 * 190 * 190 + 400;
  /* As tiles have elements. */
#pragma acc parallel loop vector tile(2, 2) num_gangs(1) copyout(matrix)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("lanes");
}

static void chunks(void) {
  int sum = 0;
#pragma acc parallel num_gangs(7) num_workers(2) vector_length(64) reduction(+ : sum) copyout(list)
  {
#pragma acc loop gang(static : 5) reduction(+ : sum)
    for (int i = 0; i < ROWS; i++) {
#pragma acc loop vector reduction(+ : sum)
      for (int j = 0; j < COLUMNS; j++) sum += i + j;
    }
#pragma acc loop gang(static : *) worker vector
    for (int i = 0; i < LENGTH; i++) list[i] = i;
  }
  wrong += sum != COLUMNS * (ROWS * (ROWS - 1) / 2) + ROWS * (COLUMNS * (COLUMNS - 1) / 2);
  for (int i = 0; i < LENGTH; i++) wrong += list[i] != i;
  /* More than there is, and nothing at all. */
  long chunk = 1L << 62;
#pragma acc parallel loop gang(static : chunk) num_gangs(3) copyout(list)
  for (int i = 0; i < LENGTH; i++) list[i] = 2 * i;
  for (int i = 0; i < LENGTH; i++) wrong += list[i] != 2 * i;
#pragma acc parallel loop gang(static : *) num_gangs(3) copy(list)
  for (int i = 5; i < 5; i++) list[i] = 0;
  wrong += list[5] != 10;
}

static void sizes_of_kernels(void) {
  int lanes = 33;
#pragma acc kernels copyout(list)
#pragma acc loop independent gang(num : 5, static : 3) worker(2) vector(lanes)
  for (int i = 0; i < LENGTH; i++) list[i] = i + 2;
  for (int i = 0; i < LENGTH; i++) wrong += list[i] != i + 2;
#pragma acc kernels loop independent gang(5) vector(64) tile(16, 16) copyout(matrix)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("kernels");
}

static void between_loops(void) {
#pragma acc parallel loop collapse(force : 2) copyout(matrix, list)
  for (int i = 0; i < ROWS; i++) {
    list[i] = i;
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  }
  check("force");
  for (int i = 0; i < ROWS; i++) wrong += list[i] != i;
#pragma acc parallel num_gangs(3, 2) copyout(matrix)
#pragma acc loop gang(dim : 2)
  for (int i = 0; i < ROWS; i++)
#pragma acc loop gang(dim : 1) vector
    for (int j = 0; j < COLUMNS; j++) matrix[i][j] = i * 100 + j;
  check("dimensions");
}

int main(void) {
  tiles();
  chunks();
  sizes_of_kernels();
  between_loops();
  puts(wrong ? "wrong" : "ok");
  return wrong != 0;
}
