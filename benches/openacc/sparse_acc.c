#include "sparse.h"

static void enter(void) {
#pragma acc enter data copyin(begin, column, value, dense) create(product)
}

static void run(void) {
#pragma acc parallel loop gang num_workers(4) vector_length(32) default(present)
  for (int row = 0; row < ROWS; ++row) {
#pragma acc loop worker
    for (int k = 0; k < WIDTH; ++k) {
      double sum = 0;
#pragma acc loop vector reduction(+ : sum)
      for (int entry = begin[row]; entry < begin[row + 1]; ++entry)
        sum += value[entry] * dense[k][column[entry]];
      product[row][k] = sum;
    }
  }
}

static void leave(void) {
#pragma acc exit data copyout(product) delete (begin, column, value, dense)
}
