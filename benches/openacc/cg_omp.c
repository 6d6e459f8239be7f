#include "cg.h"

static void enter(void) {
#pragma omp target enter data map(to : begin, column, value, right) \
    map(alloc : solution, residual, direction, image)
}

static double square_of_residual(void) {
  double total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total)
  for (int row = 0; row < ROWS; ++row)
    total += residual[row] * residual[row];
  return total;
}

static void begin_anew(void) {
#pragma omp target teams distribute parallel for
  for (int row = 0; row < ROWS; ++row) {
    solution[row] = 0;
    residual[row] = direction[row] = right[row];
  }
}

/* The image of the direction, and the product of the two. */
static double multiply(void) {
  double total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total)
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int entry = begin[row]; entry < begin[row + 1]; ++entry)
      sum += value[entry] * direction[column[entry]];
    image[row] = sum;
    total += sum * direction[row];
  }
  return total;
}

static void step(double length) {
#pragma omp target teams distribute parallel for
  for (int row = 0; row < ROWS; ++row) {
    solution[row] += length * direction[row];
    residual[row] -= length * image[row];
  }
}

static void turn(double part) {
#pragma omp target teams distribute parallel for
  for (int row = 0; row < ROWS; ++row)
    direction[row] = residual[row] + part * direction[row];
}

static void run(void) {
  begin_anew();
  double square = square_of_residual();
  for (int count = 0; count < STEPS; ++count) {
    step(square / multiply());
    double smaller = square_of_residual();
    turn(smaller / square);
    square = smaller;
  }
  left_over = square;
}

static void leave(void) {
#pragma omp target exit data map(from : solution) \
    map(release : begin, column, value, right, residual, direction, image)
}
