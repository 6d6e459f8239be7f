/* The part of the CUDA driver API that the benchmarks use, loaded as programs do. */
#ifndef GANGWAY_BENCH_DRIVER_H
#define GANGWAY_BENCH_DRIVER_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long address;
typedef void *handle;

static int (*cuInit)(unsigned flags);
static int (*cuDeviceGet)(int *device, int ordinal);
static int (*cuDeviceGetName)(char *name, int length, int device);
static int (*cuCtxCreate_v2)(handle *context, unsigned flags, int device);
static int (*cuModuleLoad)(handle *module, const char *file);
static int (*cuModuleGetFunction)(handle *function, handle module, const char *name);
static int (*cuMemAlloc_v2)(address *memory, size_t bytes);
static int (*cuMemcpyHtoD_v2)(address to, const void *from, size_t bytes);
static int (*cuMemcpyDtoH_v2)(void *to, address from, size_t bytes);
static int (*cuMemsetD8_v2)(address to, unsigned char value, size_t bytes);
static int (*cuLaunchKernel)(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, handle stream, void **arguments, void **extra);
static int (*cuCtxSynchronize)(void);
static int (*cuStreamCreate)(handle *stream, unsigned flags);
static int (*cuStreamSynchronize)(handle stream);

#define CHECK(call)                                                              \
  do {                                                                           \
    int code = (call);                                                           \
    if (code) {                                                                  \
      fprintf(stderr, "%s answers %d\n", #call, code);                           \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

static inline void load_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define LOAD(name)                                                               \
  if (!(*(void **)&name = dlsym(library, #name))) {                              \
    fprintf(stderr, "there is no %s\n", #name);                                  \
    exit(1);                                                                     \
  }
  LOAD(cuInit) LOAD(cuDeviceGet) LOAD(cuCtxCreate_v2) LOAD(cuModuleLoad) LOAD(cuModuleGetFunction)
  LOAD(cuMemAlloc_v2) LOAD(cuMemcpyHtoD_v2) LOAD(cuMemcpyDtoH_v2) LOAD(cuMemsetD8_v2) LOAD(cuLaunchKernel)
  LOAD(cuCtxSynchronize) LOAD(cuDeviceGetName) LOAD(cuStreamCreate) LOAD(cuStreamSynchronize)
}

#endif
