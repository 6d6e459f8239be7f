// as without OpenACC
// Reductions of sections that pointers lead to, of lengths that are known when the program runs, at every level; of arrays
// of such lengths; and of parts of arrays.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define N 400

static void show(const char *name, const double *list, int n) {
  printf("%s:", name);
  for (int k = 0; k < n; k++) printf(" %g", list[k]);
  puts("");
}

static void levels(int n) {
  double *p = malloc((n + 2) * sizeof *p), list[8][50];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 50; j++) list[i][j] = i + j;
  for (int k = 0; k < n + 2; k++) p[k] = 100;
#pragma acc parallel num_gangs(3) num_workers(2) vector_length(64) reduction(+ : p[1 : n])
  {
#pragma acc loop gang worker reduction(+ : p[1 : n])
    for (int i = 0; i < 8; i++) {
      p[1] += i;
#pragma acc loop vector reduction(+ : p[1 : n])
      for (int j = 0; j < 50; j++) p[1 + (i + j) % n] += list[i][j];
      p[2] += 1000;
    }
  }
  show("three gangs", p, n + 2);
#pragma acc parallel num_gangs(1) reduction(+ : p[1 : n])
  {
    p[1] += 1000;
#pragma acc loop worker vector reduction(+ : p[1 : n])
    for (int i = 0; i < 8; i++) p[1 + i % n] += list[i][0];
    p[2] += 1000;
  }
  show("one gang", p, n + 2);
  free(p);
}

static void most(double *p, int n, const double *list, int m) {
#pragma acc parallel loop copyin(list[0 : m]) reduction(max : p[0 : n])
  for (int i = 0; i < m; i++)
    if (list[i] > p[i % n]) p[i % n] = list[i];
}

static void array(int n) {
  int a[n];
  for (int i = 0; i < n; i++) a[i] = i;
#pragma acc parallel loop reduction(+ : a)
  for (int i = 0; i < N; i++) a[i % n] += i;
  for (int i = 0; i < n; i++) printf("%d ", a[i]);
  puts("");
}

static void one_after_the_other(int *p, int n) {
#pragma acc parallel loop gang num_gangs(5) reduction(+ : p[0 : n])
  for (int i = 0; i < 10; i++) {
#pragma acc loop vector reduction(+ : p[0 : n])
    for (int j = 0; j < 100; j++) p[j % n] += i;
  }
#pragma acc parallel loop gang num_gangs(5) reduction(+ : p[ : n])
  for (int i = 0; i < 10; i++) p[i % n] += i;
#pragma acc parallel loop worker num_workers(4) reduction(^ : p[0 : n])
  for (int i = 0; i < 10; i++) p[i % n] ^= i;
#pragma acc serial loop reduction(+ : p[0 : 4])
  for (int i = 0; i < 10; i++) p[i % n] += i;
#pragma acc kernels loop reduction(+ : p[0 : n])
  for (int i = 0; i < 10; i++) p[i % n] += i;
  for (int i = 0; i < n; i++) printf("%d ", p[i]);
  puts("");
}

/* What the section leaves out stays as it is, and is read. */
static void part(void) {
  int a[6] = {7, 7, 7, 7, 7, 7}, seen = 0;
#pragma acc parallel loop reduction(&& : a[2 : 2]) reduction(+ : seen)
  for (int i = 0; i < N; i++) {
    a[2] = a[2] && i < N;
    a[3] = a[3] && i != 5;
    seen += a[1] == 7;
  }
  for (int i = 0; i < 6; i++) printf("%d ", a[i]);
  printf("%d\n", seen);
}

static void tell(const bool *b, int n) {
  for (int i = 0; i < n; i++) printf("%d ", b[i]);
  puts("");
}

typedef _Bool truth;

static void truths(bool *b, truth *t, int n) {
#pragma acc parallel loop reduction(|| : b[0 : n])
  for (int i = 0; i < N; i++) b[i % n] = b[i % n] || i == 77;
  tell(b, n);
#pragma acc parallel loop reduction(^ : b[1 : n - 1])
  for (int i = 0; i < N; i++) b[1 + i % (n - 1)] ^= i % 3 == 0;
  tell(b, n);
#pragma acc parallel loop gang reduction(| : t[0 : n])
  for (int i = 0; i < n; i++) {
#pragma acc loop vector reduction(| : t[0 : n])
    for (int j = 0; j < N; j++) t[i] |= j == 99 && i != 1;
  }
  tell(t, n);
#pragma acc parallel loop reduction(& : t[0 : n]) reduction(max : b[0 : n])
  for (int i = 0; i < N; i++) {
    t[i % n] &= i != 4;
    if (i == 8) b[i % n] = 1;
  }
  tell(t, n);
  tell(b, n);
  truth fixed[6] = {1, 1, 1, 0, 1, 1};
#pragma acc parallel loop reduction(* : fixed)
  for (int i = 0; i < N; i++) fixed[i % 6] = fixed[i % 6] * (i != 10);
  tell(fixed, 6);
#pragma acc parallel loop reduction(min : fixed[0 : 3]) reduction(+ : t[0 : n])
  for (int i = 0; i < N; i++) {
    if (i == 14) fixed[2] = 0;
    t[i % n] = t[i % n] + (i == 9);
  }
  tell(fixed, 6);
  tell(t, n);
}

int main(void) {
  double list[N], q[7] = {0};
  int g[4] = {0};
  bool b[5] = {0};
  truth t[5] = {0};
  levels(3);
  levels(5);
  for (int i = 0; i < N; i++) list[i] = i * 7 % 101;
  most(q, 7, list, N);
  show("most", q, 7);
#pragma acc data copy(q) copyin(list)
  most(q + 1, 3, list, 20);
  show("most of what is there", q, 7);
  array(6);
  one_after_the_other(g, 4);
  part();
  truths(b, t, 5);
  return 0;
}
