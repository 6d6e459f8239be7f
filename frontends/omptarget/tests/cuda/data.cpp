// Data of every kind on two devices: globals, values, copies, allocators.
#include "device.h"
#include <cassert>
#include <cstdio>
#include <omp.h>

extern "C" {
void *llvm_omp_target_alloc_host(size_t, int);
void *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_host(void *, int);
void llvm_omp_target_free_shared(void *, int);
}

int global = 5;
#pragma omp declare target to(global)

int main() {
  assert(omp_get_num_devices() == 2);
  for (int device = 0; device < 2; ++device) {
    int value = 10 + device, array[100];
    for (int i = 0; i < 100; ++i)
      array[i] = i;
#pragma omp target device(device) map(tofrom : array) firstprivate(value)
    {
      for (int i = 0; i < 100; ++i)
        array[i] += value + global;
      global += 1;
    }
    for (int i = 0; i < 100; ++i)
      assert(array[i] == i + value + 5);
#pragma omp target update from(global) device(device)
    assert(global == 6);
    global = 5;
#pragma omp target update to(global) device(device)
  }
  // From the host to one device, to the other, and back.
  int there[64], back[64] = {};
  for (int i = 0; i < 64; ++i)
    there[i] = 3 * i;
  void *near = omp_target_alloc(sizeof there, 0), *far = omp_target_alloc(sizeof there, 1);
  assert(near && far);
  int host = omp_get_initial_device();
  assert(!omp_target_memcpy(near, there, sizeof there, 0, 0, 0, host));
  assert(!omp_target_memcpy(far, near, sizeof there, 0, 0, 1, 0));
  assert(!omp_target_memcpy(back, far, sizeof there, 0, 0, host, 1));
  for (int i = 0; i < 64; ++i)
    assert(back[i] == 3 * i);
  omp_target_free(near, 0);
  omp_target_free(far, 1);
  // Memory that host and device both reach.
  int *pinned = static_cast<int *>(llvm_omp_target_alloc_host(64, 0));
  int *shared = static_cast<int *>(llvm_omp_target_alloc_shared(64, 0));
  assert(pinned && shared);
  pinned[0] = shared[0] = 1;
#pragma omp target is_device_ptr(pinned, shared)
  {
    pinned[0] += 10;
    shared[0] += 20;
  }
  assert(pinned[0] == 11 && shared[0] == 21);
  llvm_omp_target_free_host(pinned, 0);
  llvm_omp_target_free_shared(shared, 0);
  // Tasks, each with a region of its own.
  int parts[16] = {};
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 16; ++i) {
#pragma omp target nowait map(tofrom : parts[i]) depend(inout : parts[i]) device(i % 2)
    parts[i] += i;
  }
#pragma omp taskwait
  for (int i = 0; i < 16; ++i)
    assert(parts[i] == i);
  puts("right");
}
