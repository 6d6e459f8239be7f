/* Conjugate gradients: the five-point Laplacian of a plate, as compressed rows. */
#include "timing.h"

enum { SIDE = 256, ROWS = SIDE * SIDE, STEPS = 30, ENTRIES = 5 * ROWS };

static int begin[ROWS + 1], column[ENTRIES];
static double value[ENTRIES], right[ROWS], solution[ROWS], residual[ROWS], direction[ROWS], image[ROWS];

/* What is left of the residual's square after the steps. */
static double left_over;

static void add_entry(int *entries, int row, double number) {
  column[*entries] = row;
  value[(*entries)++] = number;
}

static void prepare(void) {
  int entries = 0;
  for (int y = 0; y < SIDE; ++y)
    for (int x = 0; x < SIDE; ++x) {
      int row = y * SIDE + x;
      begin[row] = entries;
      right[row] = random_number();
      if (y > 0)
        add_entry(&entries, row - SIDE, -1);
      if (x > 0)
        add_entry(&entries, row - 1, -1);
      add_entry(&entries, row, 4);
      if (x < SIDE - 1)
        add_entry(&entries, row + 1, -1);
      if (y < SIDE - 1)
        add_entry(&entries, row + SIDE, -1);
    }
  begin[ROWS] = entries;
}

/* The residual that the method carries along is that of the solution, and the error of the solution
 * has shrunk. The residual itself need not shrink in every step. */
static void check(void) {
  double square = 0, energy = 0;
  for (int row = 0; row < ROWS; ++row) {
    double rest = right[row];
    for (int entry = begin[row]; entry < begin[row + 1]; ++entry)
      rest -= value[entry] * solution[column[entry]];
    square += rest * rest;
    energy += solution[row] * (right[row] + rest);
  }
  require_near(left_over / square, 1, 1e-6);
  require(energy > 0, "the solution is no better than none");
}
