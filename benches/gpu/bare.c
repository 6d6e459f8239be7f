/* The floor under a region: launching an empty kernel and waiting for it, as a program of the
 * driver API does. bare KERNELS. Prints the device's name, too. */
#include "../programs/bench.h"
#include "../vgpu/driver.h"

static handle function, stream;

static void launch(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0));
    CHECK(cuStreamSynchronize(stream));
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return fprintf(stderr, "usage: bare KERNELS\n"), 2;
  handle context, module;
  char name[256];
  int ordinal;
  load_driver();
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&ordinal, 0));
  CHECK(cuDeviceGetName(name, sizeof name, ordinal));
  CHECK(cuCtxCreate_v2(&context, 0, ordinal));
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&function, module, "empty"));
  CHECK(cuStreamCreate(&stream, 1));
  printf("device %s\n", name);
  measure(launch, NULL);
  return 0;
}
