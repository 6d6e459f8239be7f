/* A matrix product in tiles. The right matrix is stored by columns, so that what a tile needs of both
 * are parts of rows. */
#include "timing.h"

enum { SIZE = 512, TILE = 16 };

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
        sum += (double)left[i][k] * right[j][k];
      require_near(product[i][j], sum, 1e-4);
    }
}
