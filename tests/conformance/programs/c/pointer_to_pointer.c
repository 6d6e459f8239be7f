// covers: arrays of pointers, pointers to pointers, each level attached by hand
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int **rows = malloc(4 * sizeof *rows);
  for (int i = 0; i < 4; i++) {
    rows[i] = malloc(5 * sizeof(int));
    for (int j = 0; j < 5; j++) rows[i][j] = 10 * i + j;
  }
#pragma omp target enter data map(to : rows[0 : 4])
  for (int i = 0; i < 4; i++) {
#pragma omp target enter data map(to : rows[i][0 : 5])
  }
#pragma omp target
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) rows[i][j] += 100 * j;
  int ***deep = malloc(sizeof *deep);
  *deep = rows;
  int out = 0;
#pragma omp target map(to : deep[0 : 1], deep[0][0 : 0]) map(from : out)
  out = deep[0][3][4];
  printf("%d\n", out);
  for (int i = 0; i < 4; i++) {
#pragma omp target exit data map(from : rows[i][0 : 5])
    for (int j = 0; j < 5; j++) printf("%d ", rows[i][j]);
    printf("\n");
    free(rows[i]);
  }
#pragma omp target exit data map(delete : rows[0 : 4])
  free(rows);
  free(deep);
  return 0;
}
