// functions: llvmLaunchKernel __llvmPushCallConfiguration __llvmPopCallConfiguration
//
// What clang makes of `kernel<<<grid, block>>>(...)`. A kernel that cannot run ends the program.
#include "abi.h"

typedef struct {
  unsigned x, y, z;
} dim3;

typedef struct {
  size_t size;
  void *bytes, *reserved;
} parameters;

unsigned llvmLaunchKernel(const void *, dim3, dim3, parameters *, size_t, void *);
unsigned __llvmPushCallConfiguration(dim3, dim3, size_t, void *);
unsigned __llvmPopCallConfiguration(dim3 *, dim3 *, size_t *, void **);

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  // Only the first extent is always there.
  dim3 two = {2}, four = {4, 1, 3}, none = {0}, grid, block;
  size_t shared;
  void *stream;
  CHECK(__llvmPushCallConfiguration(two, four, 16, &stream) == 0);
  CHECK(__llvmPopCallConfiguration(&grid, &block, &shared, &stream) == 0);
  CHECK(!memcmp(&grid, &two, sizeof grid) && !memcmp(&block, &four, sizeof block));
  CHECK(shared == 16 && stream == &stream);
  CHECK(ABORTS(__llvmPopCallConfiguration(&grid, &block, &shared, &stream)));

  int value = 4;
  struct {
    int *value;
  } bytes = {&value};
  parameters given = {sizeof bytes, &bytes};
  CHECK(llvmLaunchKernel(&old_region, grid, block, &given, 0, 0) == 0 && value == 5);
  CHECK(ABORTS(llvmLaunchKernel(&old_region, none, block, &given, 0, 0)));
  CHECK(ABORTS(llvmLaunchKernel(&old_region, grid, none, &given, 0, 0)));
  CHECK(ABORTS(llvmLaunchKernel(&missing_region, grid, block, &given, 0, 0)));
  CHECK(ABORTS(llvmLaunchKernel(&value, grid, block, &given, 0, 0)));
  return 0;
}
