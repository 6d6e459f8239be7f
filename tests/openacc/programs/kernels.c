// as without OpenACC
/* Loops of `kernels` and `auto` loops: what is shown to be independent is partitioned, what is not runs in
 * order. It prints the same as when one thread runs it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 120, M = 75 };

static double A[N][M], B[N][M], C[N][M];
static int half[N], v[N];

/* Rows of one length, and `out` leads to nothing else. */
static void rows(int n, int m, float *restrict out, const float *in) {
#pragma acc kernels loop copyin(in[0 : n * m]) copyout(out[0 : n * m])
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) out[i * m + j] = in[i * m + j] * 2;
}

/* Whether it may be partitioned is asked when it runs. */
static void stencil(int n, int m, float *out, const float *in) {
#pragma acc kernels copyin(in[0 : n * m]) copy(out[0 : n * m])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      out[i * m + j] =
        in[i * m + j - 1] + in[i * m + j + 1] + in[(i - 1) * m + j] + in[(i + 1) * m + j];
}

static void in_place(int n, int m, float *a) {
#pragma acc kernels copy(a[0 : n * m])
#pragma acc loop
  for (int i = 1; i < n - 1; i++)
#pragma acc loop
    for (int j = 1; j < m - 1; j++) a[i * m + j] = a[i * m + j - 1] / 2 + a[(i - 1) * m + j] / 2;
}

static void cube(int n, int m, int l, int *a) {
#pragma acc kernels copy(a[0 : n * m * l])
#pragma acc loop
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; ++j)
#pragma acc loop
      for (int k = 0; k < l; ++k) a[(i * m + j) * l + k] += i + j * k;
}

static void product(void) {
#pragma acc kernels copyin(A, B) copyout(C)
#pragma acc loop
  for (int i = 0; i < N; i++)
#pragma acc loop
    for (int j = 0; j < M; j++) {
      double sum = 0;
#pragma acc loop seq
      for (int k = 0; k < M; k++) sum += A[i][k] * B[k][j];
      C[i][j] = sqrt(fabs(sum));
    }
}

/* Four kernels, with their data around them. */
static int several(int n) {
  int i, j, sum = 0;
#pragma acc kernels copyout(A, B) async(1)
  {
    for (i = 0; i < n; i++)
      for (j = 0; j < M; j++) A[i][j] = i * j;
    for (i = 0; i < n; i++)
      for (j = 0; j < M; j++) B[i][j] = A[i][j] + 1;
#pragma acc loop independent
    for (i = 1; i < n; i++)
      for (j = 0; j < M; j++) A[i][j] += B[i][j];
    for (int k = 0; k < M; k++) v[k] = A[k][k];
  }
#pragma acc wait
  for (i = 0; i < M; i++) sum += v[i] + A[i][5] + B[5][i];
  return sum;
}

static int in_order(void) {
  int sum = 0, found = 0, i, j;
#pragma acc kernels loop
  for (i = 0; i < N; i++) v[half[i]] = i;
#pragma acc kernels loop
  for (i = 1; i < N; i++) v[i] += v[i - 1] % 1000;
#pragma acc kernels loop
  for (i = 0; i < N / 2; i++) v[2 * i] = v[2 * i + 1];
#pragma acc parallel loop auto gang
  for (i = 1; i < N; i++) v[i] = v[i - 1] + 1;
#pragma acc kernels loop
  for (i = 0; i < N; i++) sum += v[i];
#pragma acc kernels
  {
    for (i = 0; i < N; i++)
      if (v[i] == 77) break;
    found = i;
    v[0] = 7;
    for (int k = 1; k < N; k++) v[k] = v[k - 1] + 1;
  }
  /* Gangs do not share the inner loop: they would not wait for what stands before it. */
#pragma acc kernels
  for (i = 1; i < N; i++) {
    v[3]++;
    for (j = 0; j < M; j++) A[i][j] = A[i - 1][j] + v[3];
  }
#pragma acc kernels
#pragma acc loop collapse(2)
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++) B[i][j] = i - j;
  for (i = 0; i < N; i++) sum += A[i][9] + B[i][7];
  return sum + found + v[N - 1];
}

/* The sum of numbers that are not whole is the program's to order. */
static double sums(void) {
  double all = 0, said = 0;
#pragma acc kernels loop
  for (int i = 0; i < N; i++) all += A[i][0] / 3;
#pragma acc kernels loop reduction(+ : said)
  for (int i = 0; i < N; i++) said += B[i][0];
  return all + said;
}

/* `a` and `a + 1`, in one piece of memory and in two. */
static int moved(int n, int *to, const int *from) {
  int sum = 0;
#pragma acc kernels present(to[0 : n], from[0 : n])
  for (int i = 0; i < n; i++) to[i] = from[i] + 1;
#pragma acc kernels loop present(to[0 : n])
  for (int i = 0; i < n; i++) sum += to[i] * i;
  return sum;
}

int main(void) {
  for (int i = 0; i < N; i++) {
    half[i] = i / 2;
    for (int j = 0; j < M; j++) A[i][j] = i + j, B[i][j] = i - j;
  }
  float *x = malloc(30 * 40 * sizeof *x), *y = malloc(30 * 40 * sizeof *y);
  for (int i = 0; i < 30 * 40; i++) x[i] = i, y[i] = 0;
  rows(30, 40, y, x);
  stencil(30, 40, y, x);
  printf("%g\n", (double)y[20 * 40 + 7]);
  stencil(30, 40, x, x);
  printf("%g\n", (double)x[28 * 40 + 38]);
  in_place(30, 40, x);
  printf("%g\n", (double)x[28 * 40 + 38]);
  static int numbers[3 * 4 * 5];
  cube(3, 4, 5, numbers);
  product();
  printf("%d %g\n", numbers[59], C[5][7]);
  printf("%d\n", several(N));
  printf("%d\n", in_order());
  printf("%g\n", sums());
  int *p = calloc(100, sizeof *p), *q = calloc(100, sizeof *q);
#pragma acc data copy(p[0 : 100], q[0 : 100])
  {
    printf("%d ", moved(90, p, q));
    printf("%d ", moved(90, p + 1, p));
    printf("%d ", moved(90, p, p + 1));
    printf("%d\n", moved(90, q, p));
  }
  return 0;
}
