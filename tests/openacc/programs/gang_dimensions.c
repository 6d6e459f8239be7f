/* Gangs of several dimensions, in loops and from loops to routines (OpenACC 3.3 section 2.9.2). */
#include <stdio.h>

static int failures;
#define CHECK(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), failures++; \
  } while (0)

#pragma acc routine vector
static void once(int *cell, int n) {
#pragma acc loop vector
  for (int i = 0; i < n; ++i)
    if (i == n - 1) *cell += 1;
}

#pragma acc routine gang(dim : 1)
static void row(int *cells, int n) {
#pragma acc loop gang(dim : 1)
  for (int i = 0; i < n; ++i) once(&cells[i], n);
}

#pragma acc routine gang(dim : 2)
static void plane(int n, int cells[n][n]) {
#pragma acc loop gang(dim : 2)
  for (int i = 0; i < n; ++i) row(cells[i], n);
}

static void in_loops(int n) {
  int cells[n][n][n];
  for (int i = 0; i < n * n * n; ++i) (&cells[0][0][0])[i] = i;
#pragma acc parallel num_gangs(n, n, n) copy(cells)
#pragma acc loop gang(dim : 3)
  for (int i = 0; i < n; ++i)
#pragma acc loop gang(dim : 2)
    for (int j = 0; j < n; ++j)
#pragma acc loop gang(dim : 1)
      for (int k = 0; k < n; ++k) cells[i][j][k] += 1;
  for (int i = 0; i < n * n * n; ++i) CHECK((&cells[0][0][0])[i] == i + 1);
}

static void in_routines(int n) {
  int two[n][n], three[n][n][n];
  for (int i = 0; i < n * n; ++i) (&two[0][0])[i] = i;
  for (int i = 0; i < n * n * n; ++i) (&three[0][0][0])[i] = i;
#pragma acc parallel loop num_gangs(n, n) gang(dim : 2)
  for (int i = 0; i < n; ++i) row(two[i], n);
#pragma acc parallel loop num_gangs(n, n, n) gang(dim : 3)
  for (int i = 0; i < n; ++i) plane(n, three[i]);
  for (int i = 0; i < n * n; ++i) CHECK((&two[0][0])[i] == i + 1);
  for (int i = 0; i < n * n * n; ++i) CHECK((&three[0][0][0])[i] == i + 1);
}

static void alone(void) {
  int cells[500];
#pragma acc parallel loop gang(dim : 2) copyout(cells)
  for (int i = 0; i < 500; ++i) cells[i] = i;
  for (int i = 0; i < 500; ++i) CHECK(cells[i] == i);
}

int main(void) {
  in_loops(11);
  in_routines(9);
  alone();
  if (!failures) printf("ok\n");
  return failures != 0;
}
