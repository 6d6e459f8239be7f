// The program takes the device's context away, and then runs a region for the first time.
#include "device.h"
#include <dlfcn.h>

int main() {
  int value = 1;
#pragma omp target enter data map(to : value)
#pragma omp target
  value = 2;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto reset = reinterpret_cast<int (*)(int)>(dlsym(driver, "cuDevicePrimaryCtxReset_v2"));
  if (!reset || reset(0) != 0) {
    return 1;
  }
  // The host has the old value.
#pragma omp target
  value += 1;
  return value;
}
