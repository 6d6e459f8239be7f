// options: -std=c90 -Wno-comment
/* In C of 1990. */
#include <stdio.h>
#include <stdlib.h>

#define N 40

static int calls;
static int side(void) { return ++calls; }

int main(void) {
  int i, j, n = 7, a[N], sum = 0, bins[4] = {0, 0, 0, 0};
  double *p = (double *)malloc(N * sizeof *p);
  long most = -1;
  /* What clauses say is evaluated once. */
#pragma acc parallel loop copyout(a) reduction(+ : sum) num_gangs(side())
  for (i = 0; i < N; i++) {
    a[i] = i;
    sum += i;
  }
#pragma acc parallel loop gang worker vector num_workers(side()) vector_length(side() * 16)
  for (i = 0; i < N; i++) p[i] = a[i];
#pragma acc parallel loop
  for (i = 0; i < N; i++)
    if (i > 0) p[i] = p[i] + 1;
#pragma acc parallel loop reduction(+ : p[0 : 3], bins) reduction(max : most)
  for (i = 0; i < N; i++) {
    p[i % 3] += 1;
    bins[i % 4] += i;
    most = i > most ? i : most;
  }
#pragma acc parallel loop gang firstprivate(p[0 : n]) copyout(a)
  for (i = 0; i < N; i++) {
    int inner = 0;
#pragma acc loop vector reduction(+ : inner)
    for (j = 0; j < n; j++) inner += (int)p[j];
    a[i] = inner;
  }
  if (calls != 3 || sum != 780 || most != 39 || bins[3] != 210 || p[0] != 14 || p[39] != 40 || a[9] != 14 + 15 + 16 + 22) {
    printf("%d %d %ld %d %g %g %d\n", calls, sum, most, bins[3], p[0], p[39], a[9]);
    return 1;
  }
  puts("ok");
  return 0;
}
