// covers: uses_allocators, allocate clauses and omp_alloc in regions
// flags: -fopenmp-version=51
#include <omp.h>
#include <stdio.h>

int main(void) {
  int out[8] = {0}, x = 3;
#pragma omp target map(tofrom : out) uses_allocators(omp_default_mem_alloc)
  {
    int *p = omp_alloc(8 * sizeof(int), omp_default_mem_alloc);
    for (int i = 0; i < 8; i++) p[i] = i * i;
    for (int i = 0; i < 8; i++) out[i] = p[i];
    omp_free(p, omp_default_mem_alloc);
  }
  printf("%d %d\n", out[3], out[7]);
#pragma omp target parallel for private(x) allocate(omp_default_mem_alloc : x) map(tofrom : out) \
    uses_allocators(omp_default_mem_alloc)
  for (int i = 0; i < 8; i++) {
    x = out[i];
    out[i] = x + 1;
  }
  printf("%d %d\n", out[7], x);
  return 0;
}
