// covers: thousands of maps, regions, target tasks and allocations leave no memory behind
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void rounds(int n) {
  char *block = malloc(64 << 10);
  for (int i = 0; i < n; i++) {
    int x = i;
#pragma omp target enter data map(to : block[0 : 64 << 10])
#pragma omp target map(tofrom : x)
    x += block[0] * 0 + 1;
#pragma omp target nowait map(tofrom : x)
    x += 1;
#pragma omp taskwait
#pragma omp target exit data map(delete : block[0 : 64 << 10])
    void *p = omp_target_alloc(64 << 10, 1);
    omp_target_memset(p, 1, 64 << 10, 1);
    omp_target_free(p, 1);
    if (x != i + 2) printf("wrong\n");
  }
  free(block);
}

int main(void) {
  rounds(100);
  long before = peak_kib();
  rounds(700);
  printf("grew by less than 16 MiB: %d\n", peak_kib() - before < 16 << 10);
  return 0;
}
