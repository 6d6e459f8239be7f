/* The floor under an empty region: launching and waiting, without a runtime. No kernel is started,
 * so there is no need of one. */
#include "../programs/bench.h"
#include "../vgpu/driver.h"

static handle stream;

static void launch(void *context, long count) {
  (void)context;
  for (long i = 0; i < count; ++i) {
    CHECK(cuLaunchKernel(0, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0));
    CHECK(cuStreamSynchronize(stream));
  }
}

int main(void) {
  handle context;
  int ordinal;
  require(null_kernels(), "there is no kernel that could be started");
  load_driver();
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&ordinal, 0));
  CHECK(cuCtxCreate_v2(&context, 0, ordinal));
  CHECK(cuStreamCreate(&stream, 1));
  measure(launch, NULL);
  return 0;
}
