// as without OpenACC
// Results of routines that threads call together: several in one statement, in each other, in conditions, in what
// variables begin with, and in what a routine returns.
#include <stdio.h>

enum { N = 24, M = 40 };

static int grid[N][M], sums[N];

#pragma acc routine vector
static int sum(const int *list, int n) {
  int total = 0;
#pragma acc loop vector reduction(+ : total)
  for (int i = 0; i < n; i++) total += list[i];
  return total;
}

#pragma acc routine vector
static void add(int *list, int by) {
#pragma acc loop vector
  for (int i = 0; i < M; i++) list[i] += by;
}

#pragma acc routine vector
static int both(const int *one, const int *other) { return sum(one, M) - sum(other, M) / 2; }

#pragma acc routine worker
static int block(const int (*rows)[M], int n) {
  int total = 0;
#pragma acc loop worker reduction(+ : total)
  for (int i = 0; i < n; i++) {
    int own = sum(rows[i], M) + 1;
    total += own;
  }
  return total;
}

int main(void) {
  int all = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) grid[i][j] = (i * 5 + j) % 11;
#pragma acc data copy(grid) copyout(sums)
  {
#pragma acc parallel loop gang vector_length(32)
    for (int i = 0; i < N; i++) {
      int half = sum(grid[i], M / 2), k = 0;
      int s = sum(grid[i], M) * 2 + sum(grid[i], sum(grid[i], 3) % M) - half;
      if (sum(grid[i], 5) > 20)
        s += 1000;
      else if (s > 3)
        s -= sum(grid[i], 2);
      while (sum(grid[i], M) > 300 - k) {
        add(grid[i], -1 - (sum(grid[i], 2) <= 0));
        k += 7;
      }
      switch (sum(grid[i], 3) % 3) {
      case 0: s += 5; break;
      default: s += k;
      }
      sums[i] = s + both(grid[i], grid[i]);
    }
#pragma acc parallel num_gangs(1) num_workers(4) vector_length(32) copy(all)
    {
      all = block(grid, N) + block(grid, 2);
    }
  }
  for (int i = 0; i < N; i++) printf("%d ", sums[i]);
  printf("%d\n", all);
  return 0;
}
