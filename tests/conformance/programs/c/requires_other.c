// covers: requires atomic_default_mem_order and dynamic_allocators, reverse_offload-free
#include <stdio.h>

#pragma omp requires atomic_default_mem_order(seq_cst) dynamic_allocators

int main(void) {
  int n = 0;
#pragma omp target teams distribute parallel for map(tofrom : n)
  for (int i = 0; i < 100; i++) {
#pragma omp atomic
    n += i;
  }
  printf("%d\n", n);
  return 0;
}
