// as without OpenACC
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define TILE 16
#define PRAGMA(x) _Pragma(#x)
#define PAR PRAGMA(acc parallel loop copy(a[0:n]))
#pragma acc routine gang
static void gang_fill(int n, int *a, int v) {
#pragma acc loop gang vector
  for (int i = 0; i < n; i++) a[i] = v + i;
}
#pragma acc routine worker
static void worker_add(int n, int *a) {
#pragma acc loop worker vector
  for (int i = 0; i < n; i++) a[i] += n;
}
static int table[64];
#pragma acc declare create(table)
static double coef = 3.5;
#pragma acc declare copyin(coef)
#pragma acc routine seq
static int lookup(int i) { return table[i % 64] + (int)coef; }
static void macro(int n, int *a) {
  PAR for (int i = 0; i < n; i++) a[i] *= 2;
}
static int early(int n, const int *a, int key) {
  int pos = -1;
#pragma acc parallel loop copyin(a[0:n]) reduction(max:pos)
  for (int i = 0; i < n; i++) {
    int hit = 0;
    for (int j = 0; j < 10; j++) { if (a[i] + j == key) { hit = 1; break; } if (j == 8) continue; }
    switch (hit) { case 1: if (i > pos) pos = i; break; default: ; }
  }
  return pos;
}
int main(void) {
  int n = 1000; int *a = malloc(n * sizeof(int)), *b = malloc(n * sizeof(int));
#pragma acc enter data create(a[0:n], b[0:n])
#pragma acc parallel num_gangs(7) present(a[0:n])
  gang_fill(n, a, 5);
#pragma acc parallel loop gang present(b[0:n])
  for (int g = 0; g < 10; g++) { 
    int *row = b + g * 100;
    for (int i = 0; i < 100; i++) row[i] = g;
  }
#pragma acc parallel loop gang num_workers(4) vector_length(32) present(b[0:n])
  for (int g = 0; g < 10; g++) worker_add(100, b + g * 100);
#pragma acc update self(a[0:n], b[0:n])
  long s = 0; for (int i = 0; i < n; i++) s = s * 7 + a[i] * 3 + b[i];
  printf("%ld\n", s);
  for (int i = 0; i < 64; i++) table[i] = i * i;
#pragma acc update device(table)
#pragma acc parallel loop present(a[0:n])
  for (int i = 0; i < n; i++) a[i] = lookup(i);
#pragma acc exit data copyout(a[0:n]) delete(b[0:n])
  s = 0; for (int i = 0; i < n; i++) s += a[i];
  printf("%ld\n", s);
  macro(n, a);
  printf("%d %d\n", a[10], early(n, a, a[500] + 3));
  /* async pipeline */
  enum { Q = 4, M = 4096 };
  double *big = malloc(Q * M * sizeof *big);
  for (int i = 0; i < Q * M; i++) big[i] = i;
#pragma acc data create(big[0:Q*M])
  {
    for (int q = 0; q < Q; q++) {
#pragma acc update device(big[q*M:M]) async(q)
#pragma acc parallel loop async(q) present(big[q*M:M])
      for (int i = 0; i < M; i++) big[q * M + i] = sqrt(big[q * M + i]) + q;
#pragma acc update self(big[q*M:M]) async(q)
    }
#pragma acc wait(0, 1) async(2)
#pragma acc wait
  }
  double d = 0; for (int i = 0; i < Q * M; i++) d += big[i];
  printf("%.6f\n", d);
  /* private array, matrix by tiles in gang memory */
  static float A[64][64], B[64][64], C[64][64];
  for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) A[i][j] = i - j, B[i][j] = i * j % 7;
#pragma acc parallel loop gang collapse(2) copyin(A, B) copyout(C) vector_length(128)
  for (int bi = 0; bi < 64; bi += TILE)
    for (int bj = 0; bj < 64; bj += TILE) {
      float ta[TILE][TILE], tb[TILE][TILE], tc[TILE][TILE];
#pragma acc loop vector collapse(2)
      for (int i = 0; i < TILE; i++) for (int j = 0; j < TILE; j++) tc[i][j] = 0;
#pragma acc loop seq
      for (int bk = 0; bk < 64; bk += TILE) {
#pragma acc loop vector collapse(2)
        for (int i = 0; i < TILE; i++) for (int j = 0; j < TILE; j++) { ta[i][j] = A[bi + i][bk + j]; tb[i][j] = B[bk + i][bj + j]; }
#pragma acc loop vector collapse(2)
        for (int i = 0; i < TILE; i++) for (int j = 0; j < TILE; j++) { float t = tc[i][j]; for (int k = 0; k < TILE; k++) t += ta[i][k] * tb[k][j]; tc[i][j] = t; }
      }
#pragma acc loop vector collapse(2)
      for (int i = 0; i < TILE; i++) for (int j = 0; j < TILE; j++) C[bi + i][bj + j] = tc[i][j];
    }
  double t = 0; for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) t += C[i][j] * (i + 2 * j);
  printf("%g\n", t);
  int cond = 0;
#pragma acc parallel loop if(cond) copy(a[0:n])
  for (int i = 0; i < n; i++) a[i]++;
#pragma acc parallel loop self(n > 3) copy(a[0:n])
  for (int i = 0; i < n; i++) a[i]++;
#pragma acc serial copy(a[0:n])
  { for (int i = 1; i < n; i++) a[i] += a[i - 1] % 3; }
  s = 0; for (int i = 0; i < n; i++) s += a[i];
  printf("%ld\n", s);
  return 0;
}
