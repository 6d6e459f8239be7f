// covers: return from main with mapped data, device allocations and pending interop left behind
// status: 5
#include <omp.h>
#include <stdio.h>

int main(void) {
  static int a[1000];
#pragma omp target enter data map(to : a)
  int *p = omp_target_alloc(1 << 20, 0);
#pragma omp target is_device_ptr(p)
  p[0] = a[0] = 1;
  printf("%d\n", p != NULL);
  return 5;
}
