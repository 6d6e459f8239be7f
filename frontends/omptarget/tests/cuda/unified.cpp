// Unified shared memory, on a device that may have none: the host has taken over then, for routines, too.
#include <omp.h>
#include <stdio.h>

#pragma omp requires unified_shared_memory

int main(void) {
  int value = 5, on_host = -1;
  int *memory = (int *)omp_target_alloc(sizeof *memory, 0);
  if (!memory || !omp_target_is_accessible(&value, sizeof value, 0))
    return 1;
  if (omp_target_memcpy(memory, &value, sizeof value, 0, 0, 0, omp_get_initial_device()))
    return 2;
#pragma omp target map(from : on_host) map(tofrom : value)
  {
    on_host = omp_is_initial_device();
    value += *memory;
  }
  omp_target_free(memory, 0);
  printf("%d %d\n", on_host, value);
}
