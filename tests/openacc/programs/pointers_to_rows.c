/* Sections whose rows lie apart: the device has the pointers, and each row (OpenACC 3.3 section 2.7.1). */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 13, COLUMNS = 21 };

static int failures;
#define CHECK(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), failures++; \
  } while (0)

static int **made(int rows, int columns, int first) {
  int **table = malloc(rows * sizeof *table);
  for (int i = 0; i < rows; ++i) {
    table[i] = malloc(columns * sizeof **table);
    for (int j = 0; j < columns; ++j) table[i][j] = first + 100 * i + j;
  }
  return table;
}

/* All rows, copied in and out; the host's pointers stay. */
static void wholes(int rows, int columns) {
  int **from = made(rows, columns, 5), **to = made(rows, columns, 0);
  int *kept = to[rows - 1];
#pragma acc data copyin(from[0:rows][0:columns]) copyout(to[0:rows][0:columns])
  {
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) to[i][j] = 2 * from[i][j];
  }
  CHECK(to[rows - 1] == kept);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) CHECK(to[i][j] == 2 * from[i][j]);
}

/* Some rows, and a part of each; the others are not touched. */
static void parts(void) {
  int **table = made(ROWS, COLUMNS, 0);
#pragma acc kernels copy(table[2:5][3:7])
  for (int i = 2; i < 7; ++i)
    for (int j = 3; j < 10; ++j) table[i][j] += 1;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      int inside = i >= 2 && i < 7 && j >= 3 && j < 10;
      CHECK(table[i][j] == 100 * i + j + inside);
    }
}

/* Data that lives longer, updated in between; a row that is not there is left alone. */
static void unstructured(void) {
  int **table = made(ROWS, COLUMNS, 0);
  free(table[4]);
  table[4] = NULL;
#pragma acc enter data copyin(table[0:ROWS][0:COLUMNS])
  CHECK(acc_is_present(table, ROWS * sizeof *table) && acc_is_present(table[3], COLUMNS * sizeof(int)));
  for (int j = 0; j < COLUMNS; ++j) table[3][j] = -j;
#pragma acc update device(table[3:1][0:COLUMNS])
#pragma acc parallel loop present(table[0:ROWS][0:COLUMNS])
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      if (table[i]) table[i][j] *= 3;
#pragma acc update self(table[0:ROWS][0:COLUMNS])
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      if (i != 4) CHECK(table[i][j] == 3 * (i == 3 ? -j : 100 * i + j));
#pragma acc parallel loop present(table)
  for (int i = 0; i < ROWS; ++i)
    if (table[i]) table[i][i] = 7;
#pragma acc exit data copyout(table[0:ROWS][0:COLUMNS])
  CHECK(acc_get_device_type() == acc_device_host || !acc_is_present(table, sizeof *table));
  CHECK(table[4] == NULL);
  for (int i = 0; i < ROWS; ++i)
    if (i != 4) CHECK(table[i][i] == 7);
}

/* Pointers in an array, pointers to pointers to rows, and rows that are arrays of arrays. */
static void deeper(void) {
  int *few[ROWS];
  int ***cube = malloc(3 * sizeof *cube);
  int(**pairs)[2][3] = malloc(4 * sizeof *pairs);
  for (int i = 0; i < ROWS; ++i) few[i] = calloc(COLUMNS, sizeof(int));
  for (int i = 0; i < 3; ++i) cube[i] = made(4, 5, 1000 * i);
  for (int i = 0; i < 4; ++i) pairs[i] = calloc(5, sizeof **pairs);
#pragma acc data copy(few[0:ROWS][0:COLUMNS], cube[0:3][1:3][0:5], pairs[0:4][0:5][0:2][0:3])
  {
#pragma acc parallel loop
    for (int i = 0; i < ROWS; ++i) few[i][i] = i;
#pragma acc parallel loop collapse(3)
    for (int i = 0; i < 3; ++i)
      for (int j = 1; j < 4; ++j)
        for (int k = 0; k < 5; ++k) cube[i][j][k] += 1;
#pragma acc parallel loop
    for (int i = 0; i < 4; ++i) pairs[i][4][1][2] = i + 1;
  }
  for (int i = 0; i < ROWS; ++i) CHECK(few[i][i] == i);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 5; ++k) CHECK(cube[i][j][k] == 1000 * i + 100 * j + k + (j > 0));
  for (int i = 0; i < 4; ++i) CHECK(pairs[i][4][1][2] == i + 1);
}

struct table {
  int rows, columns;
  int **cells;
  int fixed[2][3];
};

/* A member that is one. */
static void members(void) {
  struct table table = {ROWS, COLUMNS, made(ROWS, COLUMNS, 0), {{1, 2, 3}, {4, 5, 6}}};
#pragma acc enter data copyin(table)
#pragma acc enter data copyin(table.cells[0:table.rows][0:table.columns])
#pragma acc parallel loop present(table)
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < table.columns; ++j) table.cells[i][j] += table.fixed[1][2];
#pragma acc exit data copyout(table.cells[0:table.rows][0:table.columns])
#pragma acc exit data delete(table)
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) CHECK(table.cells[i][j] == 100 * i + j + 6);
}

static void doubled(int *row, int columns) {
#pragma acc parallel loop present(row[0:columns])
  for (int j = 0; j < columns; ++j) row[j] *= 2;
}

/* A row by itself, where all are there; an update of a part of some; no rows at all. */
static void rows_by_themselves(int columns) {
  int shared = acc_get_device_type() == acc_device_host;
  int **table = made(ROWS, columns, 0), **none = NULL;
#pragma acc data copy(table[0:ROWS][0:columns])
  {
    for (int i = 0; i < ROWS; ++i) doubled(table[i], columns);
#pragma acc update self(table[2:2][1:3])
    CHECK(table[2][0] == (shared ? 400 : 200) && table[3][3] == 606 && table[4][1] == (shared ? 802 : 401));
  }
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < columns; ++j) CHECK(table[i][j] == 2 * (100 * i + j));
#pragma acc data copy(none[0:0][0:columns])
  ;
}

/* Rows that are mapped one by one. */
static void one_by_one(void) {
  int **table = made(ROWS, COLUMNS, 0);
#pragma acc enter data copyin(table[0:ROWS])
  for (int i = 0; i < ROWS; ++i) {
#pragma acc enter data copyin(table[i][0:COLUMNS])
  }
#pragma acc parallel loop collapse(2) present(table)
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) table[i][j] *= 3;
#pragma acc update self(table[2][0:COLUMNS])
  CHECK(table[2][1] == 603 && (acc_get_device_type() == acc_device_host || table[1][1] == 101));
  for (int i = 0; i < ROWS; ++i) {
#pragma acc exit data copyout(table[i][0:COLUMNS])
  }
#pragma acc exit data delete(table[0:ROWS])
  CHECK(acc_get_device_type() == acc_device_host || !acc_is_present(table, sizeof *table));
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) CHECK(table[i][j] == 3 * (100 * i + j));
}

#pragma acc routine vector
static int sum(const int *row, int count) {
  int all = 0;
#pragma acc loop vector reduction(+ : all)
  for (int j = 0; j < count; ++j) all += row[j];
  return all;
}

/* A row as an argument. */
static void rows_as_arguments(void) {
  int **table = made(ROWS, COLUMNS, 0), sums[ROWS];
#pragma acc parallel loop gang copyin(table[0:ROWS][0:COLUMNS]) copyout(sums)
  for (int i = 0; i < ROWS; ++i) sums[i] = sum(table[i], COLUMNS);
  for (int i = 0; i < ROWS; ++i) CHECK(sums[i] == COLUMNS * 100 * i + COLUMNS * (COLUMNS - 1) / 2);
}

int main(void) {
  wholes(ROWS, COLUMNS);
  parts();
  unstructured();
  deeper();
  members();
  rows_by_themselves(COLUMNS);
  one_by_one();
  rows_as_arguments();
  if (!failures) printf("ok\n");
  return failures != 0;
}
