// LLVM's own plugin for AMD's GPUs, through its C interface (liboffload): memory, kernels, queues.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is needed of it, declared here.
typedef struct { uint32_t code; const char *details; } *result_t;
typedef void *device_t, *queue_t, *program_t, *symbol_t;
typedef struct { uint32_t x, y, z; } dimensions_t;
typedef struct { size_t dimensions; dimensions_t groups, group; size_t shared; } size_args_t;
enum { INFO_PRODUCT = 3, INFO_PLATFORM = 1, PLATFORM_BACKEND = 3, BACKEND_AMDGPU = 2, BACKEND_HOST = 4, ALLOC_DEVICE = 1 };
result_t olInit(void), olShutDown(void);
result_t olIterateDevices(bool (*)(device_t, void *), void *);
result_t olGetDeviceInfo(device_t, uint32_t, size_t, void *);
result_t olGetPlatformInfo(void *, uint32_t, size_t, void *);
result_t olMemAlloc(device_t, uint32_t, size_t, void **), olMemFree(void *);
result_t olCreateQueue(device_t, queue_t *), olSyncQueue(queue_t), olDestroyQueue(queue_t);
result_t olCreateProgram(device_t, const void *, size_t, program_t *), olDestroyProgram(program_t);
result_t olGetSymbol(program_t, const char *, uint32_t, symbol_t *);
result_t olGetSymbolInfo(symbol_t, uint32_t, size_t, void *);
result_t olLaunchKernel(queue_t, device_t, symbol_t, const void *, size_t, const size_args_t *);
result_t olMemcpy(queue_t, void *, device_t, const void *, device_t, size_t);

#define OK(call)                                                                                      \
  do {                                                                                                \
    result_t got = (call);                                                                            \
    if (got) fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, got->details), exit(1);             \
  } while (0)
#define CHECK(what) \
  if (!(what)) { fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what); exit(1); }

static device_t amd[2], host;
static int found;

static bool take(device_t device, void *data) {
  void *platform;
  uint32_t backend;
  OK(olGetDeviceInfo(device, INFO_PLATFORM, sizeof platform, &platform));
  OK(olGetPlatformInfo(platform, PLATFORM_BACKEND, sizeof backend, &backend));
  if (backend == BACKEND_HOST) host = device;
  if (backend == BACKEND_AMDGPU && found < 2) amd[found++] = device;
  return true;
}

int main(void) {
  enum { N = 1000 };
  OK(olInit());
  OK(olIterateDevices(take, NULL));
  CHECK(found == 2 && host);
  char path[4096];
  snprintf(path, sizeof path, "%s/kernels.gfx90a.so", getenv("KERNELS"));
  FILE *file = fopen(path, "rb");
  CHECK(file);
  static char image[1 << 20];
  size_t size = fread(image, 1, sizeof image, file);
  fclose(file);
  for (int device = 0; device < 2; ++device) {
    program_t program;
    symbol_t saxpy, reduce;
    queue_t queue;
    OK(olCreateProgram(amd[device], image, size, &program));
    OK(olGetSymbol(program, "saxpy", 0, &saxpy));
    OK(olGetSymbol(program, "reduce", 0, &reduce));
    OK(olCreateQueue(amd[device], &queue));
    float host_x[N], host_y[N], *x, *y;
    for (int at = 0; at < N; ++at) host_x[at] = (float)at, host_y[at] = 1;
    OK(olMemAlloc(amd[device], ALLOC_DEVICE, sizeof host_x, (void **)&x));
    OK(olMemAlloc(amd[device], ALLOC_DEVICE, sizeof host_y, (void **)&y));
    OK(olMemcpy(queue, x, amd[device], host_x, host, sizeof host_x));
    OK(olMemcpy(queue, y, amd[device], host_y, host, sizeof host_y));
    struct { float *y, *x; float a; int n; } arguments = {y, x, 3, N};
    size_args_t sizes = {1, {16, 1, 1}, {64, 1, 1}, 0};
    for (int round = 0; round < 3; ++round)
      OK(olLaunchKernel(queue, amd[device], saxpy, &arguments, sizeof arguments, &sizes));
    OK(olMemcpy(queue, host_y, host, y, amd[device], sizeof host_y));
    OK(olSyncQueue(queue));
    for (int at = 0; at < N; ++at) CHECK(host_y[at] == 9.0f * (float)at + 1);
    int values[640], sums[10], *device_values, *device_sums;
    for (int at = 0; at < 640; ++at) values[at] = at;
    OK(olMemAlloc(amd[device], ALLOC_DEVICE, sizeof values, (void **)&device_values));
    OK(olMemAlloc(amd[device], ALLOC_DEVICE, sizeof sums, (void **)&device_sums));
    OK(olMemcpy(queue, device_values, amd[device], values, host, sizeof values));
    void *pointers[] = {device_sums, device_values};
    sizes.groups.x = 10;
    OK(olLaunchKernel(queue, amd[device], reduce, pointers, sizeof pointers, &sizes));
    OK(olMemcpy(queue, sums, host, device_sums, amd[device], sizeof sums));
    OK(olSyncQueue(queue));
    for (int at = 0; at < 10; ++at) CHECK(sums[at] == 64 * 64 * at + 63 * 32);
    OK(olMemFree(x));
    OK(olMemFree(y));
    OK(olMemFree(device_values));
    OK(olMemFree(device_sums));
    OK(olDestroyQueue(queue));
    OK(olDestroyProgram(program));
  }
  OK(olShutDown());
  return 0;
}
