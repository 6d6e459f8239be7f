// covers: an array of structures with pointers, each pointee attached in a loop
#include <stdio.h>
#include <stdlib.h>

struct cell {
  int n;
  double *v;
};

int main(void) {
  enum { N = 4 };
  struct cell cells[N];
  for (int i = 0; i < N; i++) {
    cells[i].n = i + 1;
    cells[i].v = malloc((i + 1) * sizeof(double));
    for (int j = 0; j <= i; j++) cells[i].v[j] = i + 0.25 * j;
  }
#pragma omp target enter data map(to : cells)
  for (int i = 0; i < N; i++) {
#pragma omp target enter data map(to : cells[i].v[0 : cells[i].n])
  }
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < cells[i].n; j++) cells[i].v[j] *= 4;
  for (int i = 0; i < N; i++) {
#pragma omp target exit data map(from : cells[i].v[0 : cells[i].n])
  }
#pragma omp target exit data map(delete : cells)
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < cells[i].n; j++) printf("%g ", cells[i].v[j]);
    printf("\n");
    free(cells[i].v);
  }
  return 0;
}
