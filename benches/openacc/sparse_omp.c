#include "sparse.h"

static void enter(void) {
#pragma omp target enter data map(to : begin, column, value, dense) map(alloc : product)
}

static void run(void) {
#pragma omp target teams distribute
  for (int row = 0; row < ROWS; ++row) {
#pragma omp parallel for
    for (int k = 0; k < WIDTH; ++k) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int entry = begin[row]; entry < begin[row + 1]; ++entry)
        sum += value[entry] * dense[k][column[entry]];
      product[row][k] = sum;
    }
  }
}

static void leave(void) {
#pragma omp target exit data map(from : product) map(release : begin, column, value, dense)
}
