// CUDA's handles, and work of the program's own in a stream.
#include "device.h"
#include <cassert>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <omp.h>

int main() {
  omp_interop_t object = omp_interop_none, other = omp_interop_none;
#pragma omp interop init(targetsync : object)
#pragma omp interop init(targetsync : other)
  assert(object != omp_interop_none && other != omp_interop_none);
  int code = 0;
  assert(omp_get_interop_int(object, omp_ipr_fr_id, &code) == omp_ifr_cuda);
  assert(!strcmp(omp_get_interop_str(object, omp_ipr_vendor_name, &code), "nvidia"));
  void *stream = omp_get_interop_ptr(object, omp_ipr_targetsync, &code);
  void *context = omp_get_interop_ptr(object, omp_ipr_device_context, &code);
  assert(stream && context && stream != omp_get_interop_ptr(other, omp_ipr_targetsync, &code));
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  assert(library);
  auto current = reinterpret_cast<int (*)(void *)>(dlsym(library, "cuCtxSetCurrent"));
  auto fill = reinterpret_cast<int (*)(unsigned long long, unsigned, size_t, void *)>(
      dlsym(library, "cuMemsetD32Async"));
  int array[64] = {};
#pragma omp target enter data map(to : array)
  void *mapped = omp_get_mapped_ptr(array, 0);
  assert(mapped && !current(context) && !fill((unsigned long long)mapped, 7, 64, stream));
#pragma omp interop use(object)
#pragma omp target exit data map(from : array)
  for (int value : array)
    assert(value == 7);
  // Whatever the program leaves current.
  assert(!current(nullptr));
#pragma omp target map(tofrom : array)
  array[0] += 1;
  assert(array[0] == 8);
#pragma omp interop destroy(other)
#pragma omp interop destroy(object)
  puts("right");
}
