/* Data that pointers lead to and that no clause names: what is not on the device is copied, as far as subscripts tell
   which part of it is used. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), failures++; \
  } while (0)

static double *numbers(int n) {
  double *all = malloc(n * sizeof *all);
  for (int i = 0; i < n; ++i) all[i] = i;
  return all;
}

static void saxpy(int n, double a, const double *x, double *restrict y) {
#pragma acc kernels
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

static void simple(void) {
  int n = 500;
  double *x = numbers(n), *y = numbers(n);
  saxpy(n, 2, x, y);
  for (int i = 0; i < n; ++i) CHECK(y[i] == 3 * i);
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) y[i] += 1;
#pragma acc serial
  for (int i = n - 1; i >= 0; i -= 2) y[i] += 1;
  for (int i = 0; i < n; ++i) CHECK(y[i] == 3 * i + 1 + (i & 1));
  saxpy(0, 2, x, y);
  free(x), free(y);
}

/* Subscripts of several loops, of variables that the loops declare, downwards, and of loops within bounds of others. */
static void several(int n, int m) {
  double *grid = numbers(n * m), *next = numbers(n * m), *half = numbers(n * n), largest = 0;
#pragma acc parallel loop collapse(2) reduction(max : largest)
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < m - 1; ++j) {
      int at = i * m + j;
      double sum = grid[at - m] + grid[at + m] + grid[at - 1] + grid[at + 1];
      next[at] = -sum / 4;
      if (sum > largest) largest = sum;
    }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      int inside = i > 0 && i < n - 1 && j > 0 && j < m - 1, at = i * m + j;
      CHECK(next[at] == (inside ? -at : at));
    }
  CHECK(largest == 4.0 * ((n - 2) * m + m - 2));
#pragma acc parallel loop gang
  for (int i = 0; i < n; ++i)
#pragma acc loop vector
    for (int j = 0; j <= i; ++j) half[i * n + (i - j)] = -1;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) CHECK(half[i * n + j] == (j <= i ? -1 : i * n + j));
  free(grid), free(next), free(half);
}

/* What is on the device is used there, whatever part it is. */
static void present(int n) {
  double *a = numbers(n), *b = numbers(n);
#pragma acc enter data copyin(a[0:n])
  memset(a, 0, n * sizeof *a);
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) b[i] = a[i] + 1;
  for (int i = 0; i < n; ++i) CHECK(b[i] == i + 1 || acc_get_device_type() == acc_device_host);
#pragma acc exit data delete(a[0:n])
  double *c = numbers(n);
#pragma acc enter data create(c[4:8])
#pragma acc parallel loop present(c[4:8])
  for (int i = 4; i < 12; ++i) c[i] = -1;
#pragma acc parallel loop
  for (int i = 3; i < 12; ++i)
    if (i > 3) c[i] -= 1;
#pragma acc exit data copyout(c[4:8])
  for (int i = 0; i < n; ++i) CHECK(c[i] == (i >= 4 && i < 12 ? -2 : i));
  double *there = acc_malloc(n * sizeof *there);
#pragma acc parallel loop deviceptr(there)
  for (int i = 0; i < n; ++i) there[i] = 5;
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) b[i] = there[i];
  for (int i = 0; i < n; ++i) CHECK(b[i] == 5);
  acc_free(there);
}

/* Two pointers to the same, and one into what a clause names. */
static void same(int n) {
  double *a = numbers(2 * n), *b = a + n / 2, *c = a + n;
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) b[i] = a[0] + i;
  for (int i = 0; i < n; ++i) CHECK(b[i] == i);
#pragma acc parallel loop copy(a[0:2 * n])
  for (int i = 0; i < n; ++i) {
    a[i] = 1;
    c[i] = 2;
  }
  for (int i = 0; i < n; ++i) CHECK(a[i] == 1 && c[i] == 2);
}

struct pair {
  int first, all[3];
};

/* Elements that are arrays, or have them, and what is done with elements. */
static void elements(int n) {
  int(*rows)[3] = calloc(n, sizeof *rows), *one = calloc(n, sizeof *one);
  struct pair *pairs = calloc(n, sizeof *pairs);
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) {
    rows[i][1] = i;
    pairs[i].all[2] = i + pairs[i].first;
    one[i]++;
  }
#pragma acc parallel loop
  for (int i = 0; i < n; ++i) {
    int *which = &one[i];
    *which += pairs[i].all[2];
    pairs[i].first = rows[i][1];
  }
  for (int i = 0; i < n; ++i)
    CHECK(rows[i][1] == i && pairs[i].all[2] == i && pairs[i].first == i && one[i] == i + 1);
}

int main(void) {
  elements(50);
  simple();
  several(20, 30);
  present(100);
  same(64);
  if (!failures) printf("ok\n");
  return failures != 0;
}
