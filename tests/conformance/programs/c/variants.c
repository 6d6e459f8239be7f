// covers: declare variant and metadirective that choose by device kind
// flags: -fopenmp-version=51
#include <stdio.h>

static int where_host(void) { return 1; }
static int where_device(void) { return 2; }
#pragma omp declare variant(where_device) match(construct = {target})
#pragma omp declare variant(where_host) match(device = {kind(cpu)}, user = {condition(0)})
static int where(void) { return 0; }

int main(void) {
  int device = -1, n = 0;
#pragma omp target map(from : device)
  device = where();
  printf("%d %d\n", where(), device);
#pragma omp target map(tofrom : n)
#pragma omp metadirective when(device = {arch(nvptx64)} : single) default(parallel for reduction(+ : n))
  for (int i = 0; i < 10; i++) n += i;
  printf("%d\n", n);
  return 0;
}
