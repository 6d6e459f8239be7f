// covers: a library with device code opened, used and closed on one thread while others run regions for the first time
// stock: unusable because one run in about sixty never ends
// library: device_library.c
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void *use_library(void *unused) {
  for (int round = 0; round < 40; ++round) {
    void *library = dlopen(getenv("CONFORMANCE_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    int (*sum)(const int *, int) = (int (*)(const int *, int))dlsym(library, "library_sum");
    int v[4] = {1, 2, 3, 4};
    if (sum(v, 4) != 10)
#pragma omp atomic
      ++wrong;
    dlclose(library);
  }
  return unused;
}

// Each region's first launch on a device looks its kernel up.
#define REGION                                                                                                         \
  {                                                                                                                    \
    int x = device;                                                                                                    \
    _Pragma("omp target device(device) map(tofrom : x)") x += __LINE__;                                                \
    if (x != device + __LINE__)                                                                                        \
      _Pragma("omp atomic")++ wrong;                                                                                   \
  }

static void *use_regions(void *unused) {
  for (int device = 0; device < omp_get_num_devices(); ++device) {
    REGION
    REGION
    REGION
    REGION
    REGION
    REGION
    REGION
    REGION
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, i < 2 ? use_library : use_regions, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  printf("wrong: %d\n", wrong);
  return 0;
}
