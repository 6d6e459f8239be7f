// covers: is_device_ptr with omp_target_alloc memory, several regions, null, arithmetic
#include <omp.h>
#include <stdio.h>

int main(void) {
  int device = omp_get_default_device(), host = omp_get_initial_device();
  double *d = omp_target_alloc(20 * sizeof *d, device);
  double back[20], sum = 0;
#pragma omp target is_device_ptr(d)
  for (int i = 0; i < 20; i++) d[i] = i * 0.5;
  double *half = d + 10;
#pragma omp target is_device_ptr(d, half) map(tofrom : sum)
  {
    for (int i = 0; i < 10; i++) d[i] += half[i];
    sum = d[9];
  }
  printf("%g\n", sum);
  omp_target_memcpy(back, d, sizeof back, 0, 0, host, device);
  for (int i = 0; i < 20; i++) printf("%g ", back[i]);
  printf("\n");
  double *null = NULL;
  int is_null = 0;
#pragma omp target is_device_ptr(null) map(from : is_null)
  is_null = null == NULL;
  printf("null %d\n", is_null);
  omp_target_free(d, device);
  omp_target_free(NULL, device);
  return 0;
}
