// covers: libomp's predefined target allocators, which call the offload library
#include <omp.h>
#include <stdio.h>

int main(void) {
  int *host = omp_alloc(64, llvm_omp_target_host_mem_alloc);
  int *shared = omp_alloc(64, llvm_omp_target_shared_mem_alloc);
  int *device = omp_alloc(64, llvm_omp_target_device_mem_alloc);
  printf("%d %d %d\n", host != NULL, shared != NULL, device != NULL);
  if (!host || !shared || !device) return 0;
  int sum = 0;
  for (int i = 0; i < 16; i++) host[i] = shared[i] = i;
#pragma omp target is_device_ptr(host, shared, device) map(tofrom : sum)
  for (int i = 0; i < 16; i++) {
    device[i] = host[i] * shared[i];
    sum += device[i];
  }
  printf("%d\n", sum);
  omp_free(host, llvm_omp_target_host_mem_alloc);
  omp_free(shared, llvm_omp_target_shared_mem_alloc);
  omp_free(device, llvm_omp_target_device_mem_alloc);
  return 0;
}
