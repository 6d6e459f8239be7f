// `update` of a part of rows leaves what is between the parts as it is.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLUMNS = 12, LAYERS = 5 };

static int is_in(int at, int first, int count) { return at >= first && at < first + count; }

static int of_array(int low, int count) {
  static int m[ROWS][COLUMNS];
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) m[i][j] = 1;
#pragma acc data copyin(m)
  {
#pragma acc parallel loop collapse(2) present(m)
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) m[i][j] = 2;
#pragma acc update self(m[2 : 3][low : count])
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++)
        if (m[i][j] != 1 + (is_in(i, 2, 3) && is_in(j, low, count))) return 1;
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) m[i][j] = 5;
#pragma acc update device(m[1 : 2][3 : 1]) async(1)
#pragma acc wait(1)
#pragma acc update self(m)
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++)
        if (m[i][j] != (is_in(i, 1, 2) && j == 3 ? 5 : 2)) return 2;
  }
  return 0;
}

static int of_lengths_known_later(int rows, int columns, double (*a)[rows][columns]) {
  for (int k = 0; k < LAYERS * rows * columns; k++) (&a[0][0][0])[k] = k;
#pragma acc enter data copyin(a[0 : LAYERS][0 : rows][0 : columns])
#pragma acc parallel loop collapse(3) present(a[0 : LAYERS][0 : rows][0 : columns])
  for (int k = 0; k < LAYERS; k++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) a[k][i][j] *= -1;
#pragma acc update self(a[1 : 3][rows - 1 : 1][0 : columns], a[0 : 1][0 : 2][1 : 2])
#pragma acc exit data delete (a[0 : LAYERS][0 : rows][0 : columns])
  for (int k = 0; k < LAYERS; k++)
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < columns; j++) {
        double value = (k * rows + i) * columns + j;
        int updated = (is_in(k, 1, 3) && i == rows - 1) || (k == 0 && i < 2 && is_in(j, 1, 2));
        if (a[k][i][j] != (updated ? -value : value)) return 3;
      }
  return 0;
}

struct grid {
  int before;
  int cells[ROWS][COLUMNS];
};

/* Of a member, and of rows that lie apart and are arrays of arrays. */
static int of_members_and_rows(struct grid *grid, int wide) {
  int(*planes[LAYERS])[ROWS][COLUMNS];
  for (int k = 0; k < LAYERS; k++) planes[k] = calloc(2, sizeof *planes[k]);
#pragma acc enter data copyin(grid[0 : 1]) copyin(planes[0 : LAYERS][0 : 2][0 : ROWS][0 : COLUMNS])
#pragma acc parallel loop collapse(2) present(grid[0 : 1], planes)
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      grid->cells[i][j] = 1;
      for (int k = 0; k < LAYERS; k++) planes[k][0][i][j] = planes[k][1][i][j] = 1;
    }
#pragma acc update self(grid->cells[1 : 2][4 : 3], planes[1 : 3][1 : 1][2 : 4][5 : 2])
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) {
      if (grid->cells[i][j] != (is_in(i, 1, 2) && is_in(j, 4, 3))) return 4;
      for (int k = 0; k < LAYERS; k++)
        if (planes[k][0][i][j] || planes[k][1][i][j] != (is_in(k, 1, 3) && is_in(i, 2, 4) && is_in(j, 5, 2)))
          return 5;
    }
  // More elements than a row has are one range.
#pragma acc update self(grid->cells[4 : 2][2 : wide])
  for (int j = 0; j < 2 * COLUMNS; j++)
    if ((&grid->cells[4][0])[j] != (j >= 2)) return 6;
#pragma acc exit data delete (grid[0 : 1]) delete (planes[0 : LAYERS][0 : 2][0 : ROWS][0 : COLUMNS])
  return 0;
}

int main(void) {
  if (acc_get_device_type() == acc_device_host) return puts("ok"), 0;
  double *room = malloc(LAYERS * ROWS * COLUMNS * sizeof *room);
  int wrong = of_array(5, 4) || of_array(0, COLUMNS) ||
              of_lengths_known_later(ROWS, COLUMNS, (double(*)[ROWS][COLUMNS])room) ||
              of_members_and_rows(calloc(1, sizeof(struct grid)), COLUMNS);
  puts(wrong ? "wrong" : "ok");
  return wrong;
}
