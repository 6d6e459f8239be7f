// Arrays of pointers to rows: what the pointers lead to is on the device, and the pointers there lead to it.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

enum { ROWS = 6, COLUMNS = 9, DEPTH = 4 };

struct table {
  double **cells;
  int rows;
};

static double **made(int rows, int columns) {
  double **all = malloc(rows * sizeof *all);
  for (int i = 0; i < rows; i++) {
    all[i] = malloc(columns * sizeof **all);
    for (int j = 0; j < columns; j++) all[i][j] = 100 * i + j;
  }
  return all;
}

static int is(double **all, int rows, int columns, double factor) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      if (all[i][j] != factor * (100 * i + j)) return 0;
  return 1;
}

static void doubled(double *row, int columns) {
#pragma acc parallel loop present(row[0 : columns])
  for (int j = 0; j < columns; j++) row[j] *= 2;
}

static int structured(int shared) {
  int rows = ROWS, columns = COLUMNS;
  double **all = made(rows, columns), **more = made(rows, columns);
#pragma acc data copy(all[0 : rows][0 : columns]) copyin(more[0 : rows][0 : columns])
  {
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) all[i][j] += more[i][j];
    for (int i = 0; i < rows; i++) doubled(all[i], columns);
    CHECK(shared || is(all, rows, columns, 1));
#pragma acc update self(all[2 : 2][1 : 3])
    CHECK(all[2][0] == (shared ? 800 : 200) && all[3][3] == 4 * 303 && all[4][1] == (shared ? 4 * 401 : 401));
  }
  CHECK(is(all, rows, columns, 4) && is(more, rows, columns, 1));
  CHECK(shared || !acc_is_present(all[1], sizeof(double)) && !acc_is_present(all, sizeof *all));
  // By the construct itself, and of a part of the rows.
#pragma acc parallel loop copy(all[1 : 3][2 : 4])
  for (int i = 1; i < 4; i++)
    for (int j = 2; j < 6; j++) all[i][j] /= 4;
  CHECK(all[0][2] == 8 && all[1][2] == 102 && all[3][5] == 305 && all[3][6] == 4 * 306);
  // None at all.
  double **none = 0;
#pragma acc data copy(none[0 : 0][0 : columns])
  ;
  return 0;
}

static int unstructured(int shared) {
  int rows = ROWS, columns = COLUMNS;
  double *all[ROWS];
  for (int i = 0; i < rows; i++) {
    all[i] = malloc(columns * sizeof *all[i]);
    for (int j = 0; j < columns; j++) all[i][j] = 100 * i + j;
  }
  all[3] = 0;
#pragma acc enter data copyin(all[0 : rows][0 : columns])
#pragma acc parallel loop present(all[0 : rows][0 : columns])
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      if (all[i]) all[i][j] += 1;
#pragma acc exit data copyout(all[0 : rows][0 : columns])
  CHECK(all[5][8] == 509 && all[3] == 0);
  CHECK(shared || !acc_is_present(all, sizeof all) && !acc_is_present(all[0], sizeof(double)));
  return 0;
}

/* Rows that are mapped one by one. */
static int one_by_one(int shared) {
  double **all = made(ROWS, COLUMNS);
#pragma acc enter data copyin(all[0 : ROWS])
  for (int i = 0; i < ROWS; i++) {
#pragma acc enter data copyin(all[i][0 : COLUMNS])
  }
#pragma acc parallel loop collapse(2) present(all)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) all[i][j] *= 3;
#pragma acc update self(all[2][0 : COLUMNS])
  CHECK(all[2][1] == 603 && (shared || all[1][1] == 101));
  for (int i = 0; i < ROWS; i++) {
#pragma acc exit data copyout(all[i][0 : COLUMNS])
  }
#pragma acc exit data delete(all[0 : ROWS])
  CHECK(is(all, ROWS, COLUMNS, 3));
  return 0;
}

static int of_members(void) {
  struct table of = {made(ROWS, COLUMNS), ROWS};
#pragma acc enter data copyin(of)
#pragma acc enter data copyin(of.cells[0 : of.rows][0 : COLUMNS])
#pragma acc parallel loop collapse(2) present(of)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) of.cells[i][j] *= 2;
#pragma acc exit data copyout(of.cells[0 : of.rows][0 : COLUMNS])
#pragma acc exit data delete(of)
  CHECK(is(of.cells, ROWS, COLUMNS, 2));
  return 0;
}

static int deep(void) {
  int ***cube = malloc(ROWS * sizeof *cube);
  for (int i = 0; i < ROWS; i++) {
    cube[i] = malloc(COLUMNS * sizeof **cube);
    for (int j = 0; j < COLUMNS; j++) cube[i][j] = calloc(DEPTH, sizeof ***cube);
  }
#pragma acc data copy(cube[0 : ROWS][0 : COLUMNS][1 : DEPTH - 1])
#pragma acc parallel loop gang vector collapse(3)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      for (int k = 1; k < DEPTH; k++) cube[i][j][k] = i * 100 + j * 10 + k;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      for (int k = 0; k < DEPTH; k++) CHECK(cube[i][j][k] == (k ? i * 100 + j * 10 + k : 0));
  // Rows that are arrays of arrays.
  int(*planes[3])[5];
  for (int i = 0; i < 3; i++) planes[i] = calloc(4, sizeof *planes[i]);
#pragma acc parallel loop copy(planes[0 : 3][0 : 4][0 : 5])
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++) planes[i][j][k] = i * 100 + j * 10 + k;
  CHECK(planes[2][3][4] == 234 && planes[0][1][2] == 12);
  return 0;
}

int main(void) {
  int shared = acc_get_device_type() == acc_device_host;
  if (structured(shared) || unstructured(shared) || one_by_one(shared) || of_members() || deep()) return 1;
  puts("ok");
  return 0;
}
