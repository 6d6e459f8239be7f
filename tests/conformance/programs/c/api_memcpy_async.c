// covers: omp_target_memcpy_async with depend objects in a chain, and without any
#include <omp.h>
#include <stdio.h>

int main(void) {
  int host = omp_get_initial_device();
  int src[64], dst[64] = {0}, n = 64;
  for (int i = 0; i < n; i++) src[i] = 3 * i;
  int *a = omp_target_alloc(sizeof src, 0), *b = omp_target_alloc(sizeof src, 1);
  omp_depend_t first, second, third;
  int key[2];
#pragma omp depobj(first) depend(inout : key[0])
#pragma omp depobj(second) depend(inout : key[0])
#pragma omp depobj(third) depend(in : key[0])
  printf("%d\n", omp_target_memcpy_async(a, src, sizeof src, 0, 0, 0, host, 1, &first));
  printf("%d\n", omp_target_memcpy_async(b, a, sizeof src, 0, 0, 1, 0, 1, &second));
  printf("%d\n", omp_target_memcpy_async(dst, b, sizeof src / 2, 0, 0, host, 1, 1, &third));
  printf("%d\n", omp_target_memcpy_async(dst, b, sizeof src / 2, sizeof src / 2, sizeof src / 2, host,
                                         1, 1, &third));
#pragma omp taskwait
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += dst[i] != 3 * i;
  printf("wrong %d\n", wrong);
  dst[5] = 0;
  printf("%d\n", omp_target_memcpy_async(dst, a, sizeof src, 0, 0, host, 0, 0, NULL));
#pragma omp taskwait
  printf("%d\n", dst[5]);
#pragma omp depobj(first) destroy
#pragma omp depobj(second) destroy
#pragma omp depobj(third) destroy
  omp_target_free(a, 0);
  omp_target_free(b, 1);
  return 0;
}
