#include "matmul.h"

static void enter(void) {
#pragma omp target enter data map(to : left, right) map(alloc : product)
}

static void run(void) {
#pragma omp target teams distribute collapse(2) thread_limit(TILE * TILE)
  for (int top = 0; top < SIZE; top += TILE)
    for (int side = 0; side < SIZE; side += TILE) {
#pragma omp parallel for collapse(2)
      for (int i = top; i < top + TILE; ++i)
        for (int j = side; j < side + TILE; ++j) {
          float sum = 0;
          for (int k = 0; k < SIZE; ++k)
            sum += left[i][k] * right[j][k];
          product[i][j] = sum;
        }
    }
}

static void leave(void) {
#pragma omp target exit data map(from : product) map(release : left, right)
}
