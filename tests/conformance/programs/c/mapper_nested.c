// covers: nested user-defined mappers, an array of structures and a section of it
#include <stdio.h>

typedef struct {
  int len;
  int *items;
} row;
typedef struct {
  int rows;
  row row[3];
  double *weight;
} table;

#pragma omp declare mapper(row r) map(r.len) map(r.items[0 : r.len])
#pragma omp declare mapper(table t) map(t.rows) map(t.row[0 : t.rows]) map(t.weight[0 : 1])

int main(void) {
  static int store[2][3][4];
  double weight[2] = {0.5, 4};
  table t[2];
  for (int i = 0; i < 2; i++) {
    t[i].rows = 3;
    t[i].weight = &weight[i];
    for (int j = 0; j < 3; j++) {
      t[i].row[j].len = j + 2;
      t[i].row[j].items = store[i][j];
      for (int k = 0; k < 4; k++) store[i][j][k] = 100 * i + 10 * j + k;
    }
  }
  table one;
  static int own[3][4];
  double heavy = 1;
  one.rows = 2;
  one.weight = &heavy;
  for (int j = 0; j < 3; j++) {
    one.row[j].len = 4 - j;
    one.row[j].items = own[j];
  }
#pragma omp target map(tofrom : one)
  for (int j = 0; j < one.rows; j++)
    for (int k = 0; k < one.row[j].len; k++) one.row[j].items[k] += 1000 + k;
  for (int j = 0; j < 3; j++)
    for (int k = 0; k < 4; k++) printf("%d ", own[j][k]);
  printf("\n");
#pragma omp target map(tofrom : t[0 : 2])
  for (int i = 0; i < 2; i++) {
    *t[i].weight *= 2;
    for (int j = 0; j < t[i].rows; j++) t[i].row[j].items[0] = i + j;
  }
  printf("%g %g\n", weight[0], weight[1]);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) printf("%d %d\n", store[i][j][0], store[i][j][1]);
  return 0;
}
