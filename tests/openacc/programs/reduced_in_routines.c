// as without OpenACC
// Reductions of sections in routines of workers and lanes, which call each other.
#include <stdio.h>
#include <stdlib.h>

enum { N = 20, M = 70 };

#pragma acc routine vector
static int histogram(const int *list, int n, int *bins, int count) {
#pragma acc loop vector reduction(+ : bins[0 : count])
  for (int i = 0; i < n; i++) bins[list[i] % count] += 1;
  return bins[0];
}

#pragma acc routine worker
static void most(const double *list, int rows, double *found, int first, int count) {
  if (count <= 0) return;
#pragma acc loop worker reduction(max : found[first : count])
  for (int i = 0; i < rows; i++) {
#pragma acc loop vector reduction(max : found[first : count])
    for (int j = 0; j < M; j++)
      if (list[i * M + j] > found[first + (i + j) % count]) found[first + (i + j) % count] = list[i * M + j];
  }
}

int main(void) {
  int *list = malloc(N * M * sizeof *list), *bins = calloc(N * 7, sizeof *bins), firsts[N];
  double *numbers = malloc(N * M * sizeof *numbers), *found = calloc(12, sizeof *found);
  for (int i = 0; i < N * M; i++) {
    list[i] = i * 31 % 97;
    numbers[i] = i * 17 % 1009 * 0.5;
  }
#pragma acc parallel loop gang num_workers(2) vector_length(32) copyin(list[0 : N * M]) copy(bins[0 : N * 7]) copyout(firsts)
  for (int i = 0; i < N; i++) {
    int first = histogram(list + i * M, M, bins + i * 7, 7);
    firsts[i] = first;
  }
#pragma acc parallel num_gangs(1) num_workers(4) vector_length(32) copyin(numbers[0 : N * M]) copy(found[0 : 12])
  {
    most(numbers, N, found, 2, 5);
    most(numbers, N / 2, found, 7, 0);
    most(numbers, N / 2, found, 8, 3);
  }
  for (int i = 0; i < N * 7; i++) printf("%d ", bins[i]);
  for (int i = 0; i < N; i++) printf("%d ", firsts[i]);
  for (int i = 0; i < 12; i++) printf("%g ", found[i]);
  puts("");
  return 0;
}
