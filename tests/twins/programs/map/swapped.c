// Two buffers whose pointers are exchanged after each step: the one with the result is fetched, or always the first.
// with: openmp
// options: -O1 -g --check=map
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
  enum { N = 2000 };
  double *first = malloc(N * sizeof *first), *second = malloc(N * sizeof *second);
  for (int i = 0; i < N; ++i)
    first[i] = second[i] = i % 13;
  double *old = first, *new = second, sum = 0;
#pragma omp target enter data map(to: first[0:N], second[0:N])
  for (int step = 0; step < 5; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 1; i < N - 1; ++i)
      new[i] = (old[i - 1] + old[i] + old[i + 1]) / 3;
    double *other = old;
    old = new;
    new = other;
  }
#ifdef WRONG
#pragma omp target update from(first[0:N])
#else
#pragma omp target update from(old[0:N])
#endif
  for (int i = 0; i < N; ++i)
    sum += old[i]; // finds: the host reads
#pragma omp target exit data map(release: first[0:N], second[0:N])
  printf("%g\n", sum);
  free(first);
  free(second);
  return 0;
}
