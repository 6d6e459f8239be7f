/* Private copies whose length is known when the program runs: of sections that pointers lead to, and of arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
  do { \
    if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), failures++; \
  } while (0)

static void of_gangs(int n, int m) {
  int *row = malloc(m * sizeof *row), *all = calloc(n * m, sizeof *all);
  memset(row, 0x55, m * sizeof *row);
#pragma acc parallel num_gangs(7) private(row[0:m]) copy(all[0:n * m])
  {
#pragma acc loop gang
    for (int i = 0; i < n; ++i) {
#pragma acc loop worker vector
      for (int j = 0; j < m; ++j) row[j] = i * j;
#pragma acc loop worker vector
      for (int j = 0; j < m; ++j) all[i * m + j] = row[m - 1 - j];
    }
  }
  for (int i = 0; i < n * m; ++i) CHECK(all[i] == i / m * (m - 1 - i % m));
  for (int j = 0; j < m; ++j) CHECK(row[j] == 0x55555555);
}

/* The section begins behind what the pointer leads to; the host's stays as it is. */
static void filled(int n, int m) {
  int *row = malloc((m + 3) * sizeof *row), *all = calloc(n * m, sizeof *all);
  for (int j = 0; j < m + 3; ++j) row[j] = 10 * j;
#pragma acc parallel num_gangs(5) firstprivate(row[3:m]) copyout(all[0:n * m])
  {
#pragma acc loop gang
    for (int i = 0; i < n; ++i) {
#pragma acc loop vector
      for (int j = 0; j < m; ++j) all[i * m + j] = row[3 + j];
    }
#pragma acc loop vector
    for (int j = 3; j < m + 3; ++j) row[j] = -1;
  }
  for (int i = 0; i < n * m; ++i) CHECK(all[i] == 10 * (3 + i % m));
  for (int j = 0; j < m + 3; ++j) CHECK(row[j] == 10 * j);
}

/* Copies of gangs' loops, of workers' and of lanes', in one construct. */
static void of_loops(int n, int m) {
  int *row = malloc(m * sizeof *row), *all = calloc(n * n, sizeof *all);
  long *pair = malloc(2 * sizeof *pair);
#pragma acc parallel copyout(all[0:n * n]) num_workers(4) vector_length(32)
#pragma acc loop gang private(row[0:m])
  for (int i = 0; i < n; ++i) {
#pragma acc loop vector
    for (int j = 0; j < m; ++j) row[j] = i + j;
#pragma acc loop worker vector private(pair[0:2])
    for (int j = 0; j < n; ++j) {
      pair[0] = row[j % m];
      pair[1] = i;
      if (j & 1) pair[0] = 1;
      all[i * n + j] = pair[0] * 1000 + pair[1];
    }
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) CHECK(all[i * n + j] == (j & 1 ? 1 : i + j % m) * 1000 + i);
#pragma acc parallel loop gang vector private(pair[0:2])
  for (int i = 0; i < 300; ++i) {
    pair[0] = i;
    pair[1] = 2 * i;
  }
  int rounds = 0;
#pragma acc parallel loop gang worker private(row[0:m]) reduction(+ : rounds) num_workers(8)
  for (int i = 0; i < n; ++i) {
#pragma acc loop vector
    for (int j = 0; j < m; ++j) row[j] = i;
    int sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int j = 0; j < m; ++j) sum += row[j] == i;
    rounds += sum == m;
  }
  CHECK(rounds == n);
}

static void of_kernels(int n, int m) {
  int *row = malloc(m * sizeof *row), *all = calloc(n * m, sizeof *all);
#pragma acc kernels loop gang private(row[0:m]) copyout(all[0:n * m]) independent
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) row[j] = i ^ j;
    for (int j = 0; j < m; ++j) all[i * m + j] = row[j];
  }
  for (int i = 0; i < n * m; ++i) CHECK(all[i] == (i / m ^ i % m));
#pragma acc serial private(row[0:m]) copyout(all[0:m])
  {
    for (int j = 0; j < m; ++j) row[j] = 3 * j;
    for (int j = 0; j < m; ++j) all[j] = row[m - 1 - j];
  }
  for (int j = 0; j < m; ++j) CHECK(all[j] == 3 * (m - 1 - j));
}

/* Arrays whose length is known when the program runs. */
static void of_arrays(int n, int m) {
  int row[m], all[n * m];
  for (int j = 0; j < m; ++j) row[j] = j + 1;
#pragma acc parallel loop gang firstprivate(row) copyout(all)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) all[i * m + j] = row[j];
  for (int i = 0; i < n * m; ++i) CHECK(all[i] == i % m + 1);
#pragma acc parallel loop gang private(row) copyout(all)
  for (int i = 0; i < n; ++i) {
#pragma acc loop vector
    for (int j = 0; j < m; ++j) row[j] = i - j;
#pragma acc loop vector
    for (int j = 0; j < m; ++j) all[i * m + j] = row[m - 1 - j];
  }
  for (int i = 0; i < n * m; ++i) CHECK(all[i] == i / m - (m - 1 - i % m));
  for (int j = 0; j < m; ++j) CHECK(row[j] == j + 1);
}

/* Many gangs, larger copies, and several launches under way. */
static void in_queues(int n, int m) {
  double *row = malloc(m * sizeof *row), sums[4];
  for (int j = 0; j < m; ++j) row[j] = 1;
#pragma acc data copyout(sums)
  {
    for (int q = 0; q < 4; ++q) {
#pragma acc parallel num_gangs(n) firstprivate(row[0:m]) async(q) present(sums)
      {
#pragma acc loop vector
        for (int j = 0; j < m; ++j) row[j] += q;
        double sum = 0;
#pragma acc loop vector reduction(+ : sum)
        for (int j = 0; j < m; ++j) sum += row[j];
        sums[q] = sum;
      }
    }
#pragma acc wait
  }
  for (int q = 0; q < 4; ++q) CHECK(sums[q] == (double)m * (q + 1));
}

int main(void) {
  of_gangs(40, 33);
  filled(40, 65);
  of_loops(50, 17);
  of_kernels(30, 20);
  of_arrays(25, 19);
  in_queues(300, 2000);
  if (!failures) printf("ok\n");
  return failures != 0;
}
