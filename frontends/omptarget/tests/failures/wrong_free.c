// Device memory that is freed twice, by the wrong routine, or on the wrong device.
// run: host_as_device args=host_as_device signal=ABRT
// run: shared_as_device args=shared_as_device signal=ABRT
// run: device_as_host args=device_as_host signal=ABRT
// run: twice_traced args=twice signal=ABRT OFFLOAD_TRACK_ALLOCATION_TRACES=1
// run: host_as_device_traced args=host_as_device signal=ABRT OFFLOAD_TRACK_ALLOCATION_TRACES=true
// run: other_device_traced args=other_device signal=ABRT OFFLOAD_TRACK_ALLOCATION_TRACES=1
// run: initial_device_traced args=initial_device signal=ABRT OFFLOAD_TRACK_ALLOCATION_TRACES=1
// run: wild_traced args=wild signal=ABRT OFFLOAD_TRACK_ALLOCATION_TRACES=1
// run: right_traced args=right exit=0 OFFLOAD_TRACK_ALLOCATION_TRACES=1
#include <omp.h>
#include <string.h>

void *llvm_omp_target_alloc_host(size_t, int);
void *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_host(void *, int);
void llvm_omp_target_free_shared(void *, int);

int main(int argc, char **argv) {
  const char *which = argv[argc - 1];
  void *device = omp_target_alloc(8, 0);
  if (strcmp(which, "twice") == 0) {
    omp_target_free(device, 0);
    omp_target_free(device, 0);
  } else if (strcmp(which, "other_device") == 0) {
    omp_target_free(device, 1);
  } else if (strcmp(which, "initial_device") == 0) {
    omp_target_free(device, omp_get_initial_device());
  } else if (strcmp(which, "wild") == 0) {
    omp_target_free(argv, 0);
  } else if (strcmp(which, "host_as_device") == 0) {
    omp_target_free(llvm_omp_target_alloc_host(16, 0), 0);
  } else if (strcmp(which, "shared_as_device") == 0) {
    omp_target_free(llvm_omp_target_alloc_shared(16, 0), 0);
  } else if (strcmp(which, "device_as_host") == 0) {
    llvm_omp_target_free_host(device, 0);
  } else {
    // The same addresses come back, as another kind, too.
    for (int round = 0; round < 3; ++round) {
      void *host = llvm_omp_target_alloc_host(8, 0), *shared = llvm_omp_target_alloc_shared(8, 0);
      omp_target_free(omp_target_alloc(8, 0), 0);
      llvm_omp_target_free_shared(shared, 0);
      llvm_omp_target_free_host(host, 0);
      omp_target_free(omp_target_alloc(8, 0), 0);
    }
    omp_target_free(device, 0);
  }
  return 0;
}
