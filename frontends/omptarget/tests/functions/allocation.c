// functions: omp_target_alloc omp_target_free llvm_omp_target_alloc_device llvm_omp_target_free_device
// functions: llvm_omp_target_alloc_host llvm_omp_target_free_host llvm_omp_target_alloc_shared
// functions: llvm_omp_target_free_shared llvm_omp_target_dynamic_shared_alloc
// functions: llvm_omp_target_lock_mem llvm_omp_target_unlock_mem
#include "abi.h"

#define ALLOCATOR(kind)                                                                                      \
  void *llvm_omp_target_alloc_##kind(size_t, int);                                                           \
  void llvm_omp_target_free_##kind(void *, int)
ALLOCATOR(device);
ALLOCATOR(host);
ALLOCATOR(shared);
void *llvm_omp_target_dynamic_shared_alloc(void);
void *llvm_omp_target_lock_mem(void *, size_t, int);
void llvm_omp_target_unlock_mem(void *, int);

static const struct {
  const char *name;
  void *(*allocate)(size_t, int);
  void (*release)(void *, int);
  bool on_host;
} allocators[] = {
    {"omp_target", omp_target_alloc, omp_target_free, false},
    {"device", llvm_omp_target_alloc_device, llvm_omp_target_free_device, false},
    {"host", llvm_omp_target_alloc_host, llvm_omp_target_free_host, true},
    {"shared", llvm_omp_target_alloc_shared, llvm_omp_target_free_shared, true},
};

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  const int host = omp_get_initial_device();
  for (int i = 0; i < 4; ++i) {
    for (int device = 0; device <= host; ++device) {
      int *memory = allocators[i].allocate(1000 * sizeof(int), device);
      CHECK(memory);
      int values[1000], back[1000] = {0};
      for (int j = 0; j < 1000; ++j)
        values[j] = j * 7 + device;
      CHECK(omp_target_memcpy(memory, values, sizeof values, 0, 0, device, host) == 0);
      CHECK(omp_target_memcpy(back, memory, sizeof values, 0, 0, host, device) == 0);
      CHECK(memcmp(values, back, sizeof values) == 0);
      if (device == host || allocators[i].on_host)
        CHECK(memory[999] == values[999]);
      allocators[i].release(memory, device);
      // None wanted, none given back.
      CHECK(allocators[i].allocate(0, device) == 0);
      allocators[i].release(0, device);
    }
    // More than there is.
    CHECK(allocators[i].allocate((size_t)1 << 62, 0) == 0);
    CHECK(ABORTS(allocators[i].allocate(8, 99)));
    CHECK(ABORTS(allocators[i].release((void *)0x1000, 0)));
    CHECK(ABORTS(allocators[i].release((void *)0x1000, 99)));
    CHECK(ABORTS({
      void *memory = allocators[i].allocate(64, 1);
      allocators[i].release(memory, 1);
      allocators[i].release(memory, 1);
    }));
  }
  CHECK(llvm_omp_target_dynamic_shared_alloc() == 0);

  // Memory locked for the host is itself; for a device it is reachable or null.
  static int locked[256];
  CHECK(llvm_omp_target_lock_mem(locked, sizeof locked, host) == locked);
  llvm_omp_target_unlock_mem(locked, host);
  CHECK(llvm_omp_target_lock_mem(locked, 0, 0) == 0);
  int *address = llvm_omp_target_lock_mem(locked, sizeof locked, 0);
  if (address) {
    locked[0] = 41;
    void *bases[] = {address};
    int64_t sizes[] = {8}, types[] = {LITERAL | PARAMETER};
    kernel_arguments arguments = {3, 1, bases, bases, sizes, types};
    CHECK(__tgt_target_kernel(0, 0, -1, 0, &increment_region, &arguments) == 0);
    CHECK(locked[0] == 42);
  }
  llvm_omp_target_unlock_mem(locked, 0);
  CHECK(ABORTS(llvm_omp_target_lock_mem(locked, 8, 99)));
  CHECK(ABORTS(llvm_omp_target_unlock_mem(locked, 99)));
  return 0;
}
