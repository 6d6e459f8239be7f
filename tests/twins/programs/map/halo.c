// Rows at the border come back and others go to the device: those that are read, or their neighbours.
// with: openmp
// options: -O1 -g --check=map
#include <stdio.h>

enum { ROWS = 20, COLUMNS = 100 };
static double grid[ROWS][COLUMNS];

int main(void)
{
  double sum = 0;
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j)
      grid[i][j] = i + j;
#pragma omp target data map(tofrom: grid)
  for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 1; i < ROWS - 1; ++i)
      for (int j = 0; j < COLUMNS; ++j)
        grid[i][j] += grid[ROWS - 1][j] + step;
#ifdef WRONG
#pragma omp target update from(grid[2:1])
#else
#pragma omp target update from(grid[1:1])
#endif
    for (int j = 0; j < COLUMNS; ++j) {
      sum += grid[1][j]; // finds: the host reads
      grid[ROWS - 1][j] = grid[1][j] / 2;
    }
#pragma omp target update to(grid[ROWS - 1:1])
  }
  printf("%g\n", sum);
  return 0;
}
