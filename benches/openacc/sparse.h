/* A sparse matrix times a narrow dense one: rows, columns of the dense one, entries of a row. */
#include "timing.h"

enum { ROWS = 8192, WIDTH = 8, MOST = 128 };

static int begin[ROWS + 1], column[ROWS * MOST];
static double value[ROWS * MOST], dense[WIDTH][ROWS], product[ROWS][WIDTH];

/* Rows are of different lengths. */
static void prepare(void) {
  int entries = 0;
  for (int row = 0; row < ROWS; ++row) {
    begin[row] = entries;
    for (int count = (int)(random_bits() >> 4) % MOST + 1; count > 0; --count) {
      column[entries] = (int)(random_bits() >> 4) % ROWS;
      value[entries++] = random_number();
    }
    for (int k = 0; k < WIDTH; ++k)
      dense[k][row] = random_number();
  }
  begin[ROWS] = entries;
}

static void check(void) {
  for (int row = 0; row < ROWS; ++row)
    for (int k = 0; k < WIDTH; ++k) {
      double sum = 0;
      for (int entry = begin[row]; entry < begin[row + 1]; ++entry)
        sum += value[entry] * dense[k][column[entry]];
      require_near(product[row][k], sum, 1e-12);
    }
}
