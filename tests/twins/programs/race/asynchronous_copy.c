// `omp_target_memcpy_async` without a dependence for the region behind it.
// with: openmp
#include <omp.h>
#include <stdio.h>

int main(void)
{
  enum { N = 2000 };
  int device = omp_get_default_device(), host = omp_get_initial_device();
  static int a[N], sum;
  int *b = omp_target_alloc(N * sizeof *b, device);
  for (int i = 0; i < N; ++i)
    a[i] = i;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout: b[0])
  omp_target_memcpy_async(b, a, sizeof a, 0, 0, device, host, 1, &object);
#ifdef WRONG
#pragma omp target is_device_ptr(b) map(tofrom: sum)
#else
#pragma omp target is_device_ptr(b) map(tofrom: sum) depend(in: b[0])
#endif
  for (int i = 0; i < N; ++i)
    sum += b[i]; // finds
#pragma omp taskwait
#pragma omp depobj(object) destroy
  omp_target_free(b, device);
  printf("%d\n", sum > 0);
  return 0;
}
