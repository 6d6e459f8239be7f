#include "matmul.h"

static void enter(void) {
#pragma omp target enter data map(to : left, right) map(alloc : product)
}

static void run(void) {
#pragma omp target teams distribute collapse(2) thread_limit(DOWN * ACROSS)
  for (int top = 0; top < SIZE; top += DOWN)
    for (int side = 0; side < SIZE; side += ACROSS) {
#pragma omp parallel for collapse(2)
      for (int i = top; i < top + DOWN; ++i)
        for (int j = side; j < side + ACROSS; ++j) {
          float sum = 0;
          for (int k = 0; k < SIZE; ++k)
            sum += left[i][k] * right[k][j];
          product[i][j] = sum;
        }
    }
}

static void leave(void) {
#pragma omp target exit data map(from : product) map(release : left, right)
}
