// as without OpenACC
// Data with no memory before and behind it: of what no clause names, nothing is copied that the construct does not use.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#define N 1024
#define PAGE 4096

static double *fenced(void) {
  size_t bytes = N * sizeof(double);
  char *at = mmap(0, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(at + PAGE, bytes, PROT_READ | PROT_WRITE);
  return (double *)(at + PAGE);
}

static void show(const double *list) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += list[i] * (i % 7 + 1);
  printf("%g\n", sum);
}

/* Conditions that keep subscripts within. */
static void guards(double *a, double *b, int n, int m) {
  for (int i = 0; i < n; i++) a[i] = i;
#pragma acc parallel loop
  for (int i = 0; i < n; i++) {
    if (i + 1 < n)
      b[i] = a[i + 1];
    else
      b[i] = 0;
  }
  show(b);
#pragma acc parallel loop
  for (int i = 0; i < n; i++) b[i] = i > 0 ? a[i - 1] : 7;
  show(b);
#pragma acc parallel loop
  for (int i = 0; i < n; i++) b[i] = (i == 0 ? a[n - 1] : a[i - 1]) + (i != n - 1 ? a[i + 1] : a[0]);
  show(b);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    if (i > 1 && i < n - 2) b[i] = a[i - 2] + a[i + 2];
  show(b);
#pragma acc parallel loop
  for (int i = 0; i < n; i++) {
    if (!(i < 1 || i >= n - 1))
      b[i] = a[i - 1] + a[i + 1];
    else if (i != 0)
      b[i] = a[i - 1];
  }
  show(b);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    if (i <= n - 3 && a[i + 2] > 5) b[i] = 3;
  show(b);
#pragma acc parallel loop collapse(2)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      if (i > 0) sum += a[(i - 1) * m + j];
      if (i < m - 1) sum += a[(i + 1) * m + j];
      if (j > 0) sum += a[i * m + j - 1];
      if (j + 1 < m) sum += a[i * m + j + 1];
      b[i * m + j] = sum;
    }
  show(b);
#pragma acc parallel loop
  for (int i = n - 1; i >= 0; i -= 2) {
    if (i >= 3) b[i] = a[i - 3];
    if (i < 0) b[i - n] = 7;
    if (i * 2 < n) b[i * 2] = 7;
  }
  show(b);
  size_t all = n;
#pragma acc parallel loop
  for (size_t i = 0; i < all; i++) {
    if (i + 1 < all) b[i] = a[i + 1];
    if (i >= 1) b[i] += a[i - 1];
  }
  show(b);
}

struct page {
  int a, c;
  double b[511];
};

/* The one element that is used. */
static void elements(int k, int half) {
  struct page *p = mmap(0, 8 * sizeof *p, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(p + k, sizeof *p, PROT_READ | PROT_WRITE);
  p[k].a = 3;
  p[k].c = 4;
#pragma acc parallel copy(p[k].a)
  p[k].a += 5;
#pragma acc parallel copy(p[k].a)
  {
    p[k].a += 5;
    p[k].c += p[k].a;
  }
  printf("%d %d\n", p[k].a, p[k].c);
#pragma acc parallel
  {
    p[k].a += 5;
    p[k].c += p[k].a;
  }
  printf("%d %d\n", p[k].a, p[k].c);
#pragma acc parallel loop copy(p[k].b[0 : 100])
  for (int i = 0; i < 100; i++) p[k].b[i] = i * p[k].a;
#pragma acc data copy(p[k].b)
#pragma acc parallel loop
  for (int i = 0; i < 100; i++) p[k].b[i] += i;
  printf("%g\n", p[k].b[99]);
#pragma acc parallel loop copy(p[2 * half].b[0 : 100], p[2 * half].a)
  for (int i = 0; i < 100; i++) p[2 * half].b[i] += p[2 * half].a;
#pragma acc parallel loop
  for (int i = 0; i < 100; i++) p[k].b[i] += i;
  printf("%g\n", p[k].b[99]);
}

int main(void) {
  guards(fenced(), fenced(), N, 32);
  elements(6, 3);
  return 0;
}
