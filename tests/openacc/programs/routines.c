// Routines of each level, with loops, locals and parameters of their own, and calls in each mode.
#include <stdio.h>

#define N 64
#define M 40

#pragma acc routine vector
static void row(int *list, int n, int by) {
  int twice = 2 * by;
#pragma acc loop vector
  for (int i = 0; i < n; i++) list[i] += twice + i;
}

#pragma acc routine worker
static void block(int (*list)[M], int rows, int by) {
  int moved = by + 1;
#pragma acc loop worker
  for (int i = 0; i < rows; i++) row(list[i], M, moved + i);
}

#pragma acc routine gang
static void all(int (*list)[M], int by) {
#pragma acc loop gang
  for (int i = 0; i < N; i++) {
    int k = by * i;
#pragma acc loop vector
    for (int j = 0; j < M; j++) list[i][j] -= k;
  }
}

#pragma acc routine vector
static int sum(const int *list) {
  int total = 0;
#pragma acc loop vector reduction(+ : total)
  for (int i = 0; i < M; i++) total += list[i];
  return total;
}

#pragma acc routine seq
static int half(int x) { return x / 2; }

static int grid[N][M], sums[N];

int main(void) {
#pragma acc data copy(grid) copyout(sums)
  {
#pragma acc parallel loop gang num_workers(4) vector_length(32)
    for (int i = 0; i < N; i += 8) {
      int by = half(i);
      block(&grid[i], 8, by);
    }
#pragma acc parallel num_gangs(8) vector_length(64)
    all(grid, 3);
#pragma acc parallel loop gang vector_length(128)
    for (int i = 0; i < N; i++) {
      int s;
      s = sum(grid[i]);
      sums[i] = s + 1;
    }
  }
  for (int i = 0; i < N; i++) {
    int total = 0;
    for (int j = 0; j < M; j++) {
      int wanted = 2 * (i / 8 * 8 / 2 + 1 + i % 8) + j - 3 * i;
      total += wanted;
      if (grid[i][j] != wanted) return printf("grid[%d][%d] is %d, not %d\n", i, j, grid[i][j], wanted), 1;
    }
    if (sums[i] != total + 1) return printf("sums[%d] is %d, not %d\n", i, sums[i], total + 1), 1;
  }
  puts("ok");
  return 0;
}
