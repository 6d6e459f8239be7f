// What is copied on the device comes back.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int device = omp_get_default_device(), host = omp_get_initial_device();
  static int a[1024];
  int *one = (int *)omp_target_alloc(sizeof a, device);
  int *other = (int *)omp_target_alloc(sizeof a, device);
#ifdef WRONG
  omp_target_memcpy(one, a, sizeof a / 2, 0, 0, device, host);
#else
  omp_target_memcpy(one, a, sizeof a, 0, 0, device, host);
#endif
  omp_target_memcpy(other, one, sizeof a, 0, 0, device, device);
  omp_target_memcpy(a, other, sizeof a, 0, 0, host, device);
  omp_target_free(one, device);
  omp_target_free(other, device);
  printf("%d\n", a[3]);
  return 0;
}
