// covers: use_device_ptr inside target data, several pointers, pointer into the middle, with is_device_ptr
// stock: differs(-21) because a pointer to what is not mapped does not keep its value
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 10;
  int *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] = 100;
  }
  int *host_a = a;
  int device = omp_get_default_device(), host = omp_get_initial_device();
#pragma omp target data map(to : a[0 : n]) map(tofrom : b[0 : n])
  {
#pragma omp target data use_device_ptr(a, b)
    {
      printf("other address: %d\n", a != host_a);
#pragma omp target is_device_ptr(a, b)
      for (int i = 0; i < n; i++) b[i] += a[i];
      int third = 0;
      omp_target_memcpy(&third, b, sizeof third, 0, 3 * sizeof *b, host, device);
      printf("through the API: %d\n", third);
    }
    printf("the same address again: %d\n", a == host_a);
  }
  printf("%d %d\n", b[0], b[9]);

  // The pointee is mapped by the same directive; the pointer points into its middle.
  int *mid = a + 5;
#pragma omp target data map(tofrom : mid[-5 : 10]) use_device_ptr(mid)
#pragma omp target is_device_ptr(mid)
  mid[-5] = mid[4] = 55;
  printf("%d %d %d\n", a[0], a[4], a[9]);

  // What is not mapped keeps its value.
  int local = 1, *q = &local;
#pragma omp target data map(alloc : n) use_device_ptr(q)
  printf("not mapped: %d\n", q == &local);
  free(a);
  free(b);
  return 0;
}
