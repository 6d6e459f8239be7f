// covers: omp_target_memcpy to and from mapped data and globals, omp_get_mapped_ptr of both
#include <omp.h>
#include <stdio.h>

#pragma omp declare target
int global[4] = {1, 2, 3, 4};
#pragma omp end declare target

int main(void) {
  int d = omp_get_default_device(), host = omp_get_initial_device();
  int a[8] = {0}, fill[8] = {5, 6, 7, 8, 9, 10, 11, 12}, out[4] = {0};
#pragma omp target enter data map(to : a)
  int *device_a = omp_get_mapped_ptr(a, d), *device_global = omp_get_mapped_ptr(global, d);
  printf("%d %d\n", device_a != NULL, device_global != NULL);
  omp_target_memcpy(device_a, fill, sizeof fill, 0, 0, d, host);
  omp_target_memcpy(device_global, device_a, 2 * sizeof(int), 2 * sizeof(int), 4 * sizeof(int), d, d);
#pragma omp target map(from : out)
  for (int i = 0; i < 4; i++) out[i] = global[i] * 100 + a[i];
  for (int i = 0; i < 4; i++) printf("%d ", out[i]);
  printf("\n");
#pragma omp target exit data map(from : a)
  printf("%d %d\n", a[0], a[7]);
  return 0;
}
