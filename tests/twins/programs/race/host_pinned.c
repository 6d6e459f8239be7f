// Memory that host and device share: the host looks at it behind the kernel, or while it runs.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

void *llvm_omp_target_alloc_shared(size_t size, int device);
void llvm_omp_target_free_shared(void *memory, int device);

int main(void)
{
  enum { N = 2000 };
  int *a = llvm_omp_target_alloc_shared(N * sizeof *a, 0);
  for (int i = 0; i < N; ++i)
    a[i] = 0;
#pragma omp target teams distribute parallel for is_device_ptr(a) nowait
  for (int i = 0; i < N; ++i)
    a[i] = i; // finds: the host and a kernel
#ifndef WRONG
#pragma omp taskwait
#endif
  int value = a[7]; // finds: the host and a kernel
#pragma omp taskwait
  printf("%d\n", value >= 0);
  llvm_omp_target_free_shared(a, 0);
  return 0;
}
