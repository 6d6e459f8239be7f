// as without OpenACC
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 300
static int a[N * 4], b[N * 4], c[N][N];
static unsigned char bytes[256];
struct S { int *p; int *q; int v[N]; };
static long sum(void) { long s = 0; for (int i = 0; i < N * 4; i++) s = s * 31 + a[i] + 7 * b[i]; for (int i = 0; i < N; i++) for (int j = 0; j < N; j += 3) s = s * 3 + c[i][j]; for (int i = 0; i < 256; i++) s += bytes[i] * i; return s; }
static int bump(int *x) { return (*x)++; }
static int glob;
static int side(int i) { glob += i; return i; }
int main(void) {
  int n = N, k = 0, off = 3;
  for (int i = 0; i < N * 4; i++) a[i] = i % 13, b[i] = i % 7;
  /* subscripts through a changing variable */
#pragma acc kernels
  for (int i = 0; i < n; i++) { a[k] = i; k++; }
  printf("%ld %d\n", sum(), k);
#pragma acc kernels
  for (int i = 0; i < n; i++) a[k = i / 2] = i;
  printf("%ld %d\n", sum(), k);
  /* narrow casts */
#pragma acc kernels
  for (int i = 0; i < n; i++) bytes[(unsigned char)(i * 3)] = i;
#pragma acc kernels
  for (unsigned i = 0; i < 300u; i++) a[i * 2147483648u / 2147483648u] += i;
#pragma acc kernels
  for (unsigned i = 0; i < 100u; i++) b[(i - 50u) + 60u] = b[i] + 1;
  printf("%ld\n", sum());
  /* conditional, comma */
#pragma acc kernels
  for (int i = 0; i < n; i++) a[i > 5 ? i - 1 : i] = i;
#pragma acc kernels
  for (int i = 0; i < n; i++) a[(b[0]++, i)] = b[0];
  printf("%ld\n", sum());
  /* rows longer than they are */
#pragma acc kernels
  for (int i = 0; i < 10; i++) for (int j = 0; j < 20; j++) a[i * 10 + j] += i * j;
#pragma acc kernels
  for (int i = 0; i < 10; i++) for (int j = 0; j < i + 5; j++) a[i * 10 + j] = a[i * 10 + j] * 2 + 1;
#pragma acc kernels
  for (int i = 0; i < 10; i++) for (int j = -3; j < 7; j++) a[i * 10 + j + 5] = a[i * 10 + j + 5] * 2 + i;
#pragma acc kernels
  for (int i = 0; i < 10; i++) for (int j = -3; j < 8; j++) a[i * 10 + j + 5] = a[i * 10 + j + 5] * 2 + i;
  printf("%ld\n", sum());
  /* descending, steps */
#pragma acc kernels
  for (int i = n - 1; i > 0; i--) a[i] = a[i - 1];
#pragma acc kernels
  for (int i = n - 2; i >= 0; i--) a[i] = a[i + 1] + 1;
#pragma acc kernels
  for (int i = 0; i < n; i += 4) a[i] = a[i + 2] + a[i + 3];
#pragma acc kernels
  for (int i = 0; i < n; i += 4) a[i] = a[i + 4];
#pragma acc kernels
  for (int i = 0; i < n - off; i++) a[i] = a[i + off];
  printf("%ld\n", sum());
  /* pointers within */
  struct S s; memset(&s, 0, sizeof s); s.p = a; s.q = a + 1;
  int *x = a, *y = a + 5, **pp = malloc(4 * sizeof *pp);
#pragma acc data copy(a)
  {
#pragma acc kernels present(x[0:N], y[0:N])
    for (int i = 0; i < 100; i++) y[i] = x[i] + 1;
#pragma acc kernels present(x[0:N])
    for (int i = 0; i < 100; i++) { int *z = x + i / 2; *z = i; }
#pragma acc kernels present(x[0:N])
    for (int i = 0; i < 100; i++) *(x + i) = *(x + i + 1) * 2;
#pragma acc kernels present(x[0:N])
    for (int i = 0; i < 100; i++) x[i] = a[i + 1];
  }
  (void)pp; (void)bump;
  printf("%ld\n", sum());
  /* calls, statics */
#pragma acc routine(side) seq
#pragma acc kernels copy(c)
  for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) c[i][j] = c[i - 1][j] + c[i][j - 1] + 1 & 0xffff;
#pragma acc kernels copy(c)
  for (int j = 1; j < n; j++) for (int i = 1; i < n; i++) c[i][j] = c[i - 1][j] + i & 0xffff;
#pragma acc kernels copy(c)
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i][j] = c[j][i];
#pragma acc kernels copy(c)
  for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) c[i][j] += j;
  printf("%ld\n", sum());
  int t = 0, last = 0, cnt = 0;
#pragma acc kernels
  for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * 2; last = i; if (t > 5) cnt++; }
  printf("%ld %d %d %d\n", sum(), t, last, cnt);
#pragma acc kernels copy(s)
  for (int i = 0; i < n; i++) s.v[i] = s.v[(i + 1) % n] + i;
#pragma acc kernels copy(s)
  for (int i = 0; i < n - 1; i++) s.v[i + 1] = s.v[i] + 1;
  printf("%d %d\n", s.v[7], s.v[n - 1]);
  int i, j;
#pragma acc kernels
  {
    for (i = 0; i < n; i++) { for (j = 0; j < 3; j++) a[i] += j; a[i] += j; }
    for (j = 0; j < n; j++) { if (a[j] < 0) continue; a[j]--; }
    while (k > 0) { b[k] += k; k -= 2; }
    do { b[0]++; } while (b[0] < 10);
  }
  printf("%ld %d %d %d\n", sum(), i, j, k);
  return 0;
}
