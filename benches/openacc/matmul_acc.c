#include "matmul.h"

static void enter(void) {
#pragma acc enter data copyin(left, right) create(product)
}

static void run(void) {
#pragma acc parallel loop tile(DOWN, ACROSS) default(present)
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < SIZE; ++j) {
      float sum = 0;
      for (int first = 0; first < SIZE; first += DEPTH) {
#pragma acc cache(left[i : 1][first : DEPTH])
        for (int k = first; k < first + DEPTH; ++k)
          sum += left[i][k] * right[k][j];
      }
      product[i][j] = sum;
    }
}

static void leave(void) {
#pragma acc exit data copyout(product) delete (left, right)
}
