// Pointers that devices have themselves lead to what clauses map, and variables with a value may be `extern`.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

double *created, *linked;
#pragma acc declare create(created) link(linked)
extern int factor;
int factor = 3;
#pragma acc declare copyin(factor)

#pragma acc routine seq
static double at(int i) { return created[i] * factor; }

/* What a parameter leads to is there, as the caller has made it. */
static void there(double *list, int n) {
#pragma acc declare present(list)
#pragma acc parallel loop
  for (int i = 0; i < n; i++) list[i] += 1;
}

int main(void) {
  created = malloc(N * sizeof *created), linked = malloc(N * sizeof *linked);
  double *result = malloc(N * sizeof *result);
  for (int i = 0; i < N; i++) created[i] = linked[i] = i;
#pragma acc enter data copyin(created[0 : N])
#pragma acc parallel loop copyout(result[0 : N])
  for (int i = 0; i < N; i++) result[i] = at(i);
  for (int i = 0; i < N; i++) CHECK(result[i] == 3 * i);
#pragma acc exit data delete(created[0 : N])
  for (int step = 0; step < 2; step++) {
#pragma acc data copy(linked[0 : N])
#pragma acc parallel loop
    for (int i = 0; i < N; i++) linked[i] *= 2;
  }
#pragma acc parallel loop copy(linked[0 : N])
  for (int i = 0; i < N; i++) linked[i] += factor;
  for (int i = 0; i < N; i++) CHECK(linked[i] == 4 * i + 3);
  factor = 5;
#pragma acc update device(factor)
#pragma acc parallel loop copy(linked[0 : N]) present(factor)
  for (int i = 0; i < N; i++) linked[i] += factor;
  for (int i = 0; i < N; i++) CHECK(linked[i] == 4 * i + 8);
#pragma acc data copy(result[0 : N])
  there(result, N);
  for (int i = 0; i < N; i++) CHECK(result[i] == 3 * i + 1);
  puts("ok");
  return 0;
}
