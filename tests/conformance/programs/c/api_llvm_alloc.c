// covers: llvm_omp_target_alloc_{device,host,shared} and their frees, lock_mem and unlock_mem
#include <omp.h>
#include <stdio.h>

void *llvm_omp_target_alloc_device(size_t, int);
void *llvm_omp_target_alloc_host(size_t, int);
void *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_device(void *, int);
void llvm_omp_target_free_host(void *, int);
void llvm_omp_target_free_shared(void *, int);

int main(void) {
  int d = omp_get_default_device(), out = 0;
  int *dev = llvm_omp_target_alloc_device(64, d);
  int *host = llvm_omp_target_alloc_host(64, d);
  int *shared = llvm_omp_target_alloc_shared(64, d);
  printf("%d %d %d\n", dev != 0, host != 0, shared != 0);
  for (int i = 0; i < 16; i++) host[i] = shared[i] = i;
#pragma omp target is_device_ptr(dev, host, shared) map(from : out)
  {
    for (int i = 0; i < 16; i++) {
      dev[i] = host[i] + shared[i];
      shared[i] = dev[i] + 1;
    }
    out = dev[15];
  }
  printf("%d %d\n", out, shared[15]);
  llvm_omp_target_free_device(dev, d);
  llvm_omp_target_free_host(host, d);
  llvm_omp_target_free_shared(shared, d);
  return 0;
}
