// Levels of a graph: each level puts those it has found behind a counter that is captured atomically. Wrong: plainly.
// with: openmp gcc
#include <stdio.h>
#define N 500
#define D 4
#pragma omp declare target
int found_count;
#pragma omp end declare target
int main(void) {
  static int neighbours[N][D], level[N], queue[N], next[N];
  for (int i = 0; i < N; i++)
    for (int d = 0; d < D; d++)
      neighbours[i][d] = (i * (d + 2) + 7 * d + 1) % N;
  for (int i = 0; i < N; i++)
    level[i] = -1;
  level[0] = 0;
  queue[0] = 0;
  int length = 1, depth = 0;
#pragma omp target data map(to : neighbours, queue) map(tofrom : level) map(alloc : next)
  while (length > 0) {
    found_count = 0;
#pragma omp target update to(found_count)
#pragma omp target teams distribute parallel for
    for (int q = 0; q < length; q++) {
      int node = queue[q];
      for (int d = 0; d < D; d++) {
        int other = neighbours[node][d], at;
        int expected = -1;
        if (__atomic_compare_exchange_n(&level[other], &expected, depth + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
#ifdef WRONG
          at = found_count++; // finds: found_count
#else
#pragma omp atomic capture
          at = found_count++;
#endif
          next[at % N] = other;
        }
      }
    }
#pragma omp target update from(found_count)
    length = found_count;
    depth++;
#pragma omp target teams distribute parallel for
    for (int q = 0; q < length; q++)
      queue[q] = next[q];
    if (depth > 50)
      break;
  }
  int sum = 0;
  for (int i = 0; i < N; i++)
    sum += level[i];
  printf("%d %d\n", depth, sum);
  return 0;
}
