/* A matrix product in tiles of DOWN x ACROSS, for which parts of rows of the left matrix are used again. */
#include "timing.h"

/* GCC 12 takes the elements of a tile from one row, and goes beyond its end where a row is not a number of
 * tiles' elements. */
enum { SIZE = 512, DOWN = 16, ACROSS = 16, DEPTH = 16 };

static float left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

static void prepare(void) {
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < SIZE; ++j) {
      left[i][j] = random_number();
      right[i][j] = random_number();
    }
}

static void check(void) {
  for (int i = 0; i < SIZE; i += 7)
    for (int j = 0; j < SIZE; j += 5) {
      double sum = 0;
      for (int k = 0; k < SIZE; ++k)
        sum += (double)left[i][k] * right[k][j];
      require_near(product[i][j], sum, 1e-4);
    }
}
