// functions: __gangway_reverse_enter __gangway_reverse_leave
#include "abi.h"

// The stock library, which the program is linked with, has neither.
__attribute__((weak)) void __gangway_reverse_enter(int, void *, size_t);
__attribute__((weak)) void __gangway_reverse_leave(void *, size_t);

enum { COPY_TO = 1, COPY_FROM = 2, MUST_BE_THERE = 8 };

struct item { void *base, *begin; size_t size; unsigned kind, group; size_t carried; };

struct block { size_t count; void *state; struct item items[2]; };

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  int device = 0, on_host = 1, size = sizeof(int);
  int *there = omp_target_alloc(sizeof(int), device);
  CHECK(omp_target_memcpy(there, &on_host, size, 0, 0, device, omp_get_initial_device()) == 0);

  // What is not mapped is copied, to the host and back.
  struct block block = {1, 0, {{there, there, sizeof(int), COPY_TO | COPY_FROM, 0, 0}}};
  __gangway_reverse_enter(device, &block, sizeof block);
  int *here = block.items[0].base;
  CHECK(here != there && *here == 1);
  *here = 5;
  __gangway_reverse_leave(&block, sizeof block);
  CHECK(omp_target_memcpy(&on_host, there, size, 0, 0, omp_get_initial_device(), device) == 0);
  CHECK(on_host == 5 && block.state == 0);

  // What is associated is the host's own, which nothing is copied to.
  int original = 9;
  CHECK(omp_target_associate_ptr(&original, there, sizeof(int), 0, device) == 0);
  block = (struct block){1, 0, {{there, there, sizeof(int), COPY_TO | COPY_FROM | MUST_BE_THERE, 0, 0}}};
  __gangway_reverse_enter(device, &block, sizeof block);
  CHECK(block.items[0].base == &original && original == 9);
  __gangway_reverse_leave(&block, sizeof block);
  CHECK(omp_target_disassociate_ptr(&original, device) == 0);

  // The host's own call changes nothing.
  block = (struct block){1, 0, {{&original, &original, sizeof(int), COPY_TO | COPY_FROM, 0, 0}}};
  __gangway_reverse_enter(omp_get_initial_device(), &block, sizeof block);
  CHECK(block.items[0].base == &original);
  __gangway_reverse_leave(&block, sizeof block);

  omp_target_free(there, device);
  return 0;
}
