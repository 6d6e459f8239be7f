// functions: omp_target_memcpy omp_target_memcpy_async omp_target_memcpy_rect omp_target_memcpy_rect_async
// functions: omp_target_memset omp_target_memset_async
#include "abi.h"

extern void *omp_target_memset(void *, int, size_t, int);
extern void *omp_target_memset_async(void *, int, size_t, int, int, omp_depend_t *);

enum { ROWS = 6, COLUMNS = 8, SIZE = ROWS * COLUMNS };

static int host, source[SIZE], target[SIZE];

static void clear(void) {
  for (int i = 0; i < SIZE; ++i) {
    source[i] = i;
    target[i] = -1;
  }
}

// Copies rows 1 to 3, columns 2 to 5, to one row up and one column to the left.
static int copy_block(void *to, void *from, int to_device, int from_device, bool async, omp_depend_t *depend) {
  size_t volume[] = {3, 4}, to_offset[] = {0, 1}, from_offset[] = {1, 2}, dimensions[] = {ROWS, COLUMNS};
  if (async)
    return omp_target_memcpy_rect_async(to, from, sizeof(int), 2, volume, to_offset, from_offset, dimensions,
                                        dimensions, to_device, from_device, depend ? 1 : 0, depend);
  return omp_target_memcpy_rect(to, from, sizeof(int), 2, volume, to_offset, from_offset, dimensions, dimensions,
                                to_device, from_device);
}

static bool block_is_copied(void) {
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      bool inside = row < 3 && column >= 1 && column < 5;
      if (target[row * COLUMNS + column] != (inside ? (row + 1) * COLUMNS + column + 1 : -1))
        return false;
    }
  return true;
}

int main(int argc, char **argv) {
  register_kernels(argv[1]);
  host = omp_get_initial_device();
  int *zero = omp_target_alloc(sizeof source, 0), *one = omp_target_alloc(sizeof source, 1);
  CHECK(zero && one);

  // Host to device to device to the same device to host, with offsets.
  clear();
  CHECK(omp_target_memcpy(zero, source, sizeof source, 0, 0, 0, host) == 0);
  CHECK(omp_target_memcpy(one, zero, sizeof source, 0, 0, 1, 0) == 0);
  CHECK(omp_target_memcpy(one, one, 16, 64, 0, 1, 1) == 0);
  CHECK(omp_target_memcpy(target, one, 32, 8, 56, host, 1) == 0);
  CHECK(target[1] == -1 && target[2] == 14 && target[4] == 0 && target[7] == 3 && target[8] == 20);
  CHECK(omp_target_memcpy(target, source, sizeof source, 0, 0, host, host) == 0 && target[47] == 47);
  CHECK(omp_target_memcpy(0, 0, 0, 0, 0, 0, host) == 0);
  CHECK(omp_target_memcpy(0, source, 4, 0, 0, 0, host) != 0);
  CHECK(omp_target_memcpy(zero, 0, 4, 0, 0, 0, host) != 0);
  CHECK(ABORTS(omp_target_memcpy(zero, source, 4, 0, 0, 99, host)));
  CHECK(ABORTS(omp_target_memcpy(target, zero, 4, 0, 0, host, 99)));

  // Part of a matrix.
  for (int async = 0; async < 2; ++async) {
    clear();
    CHECK(copy_block(target, source, host, host, async, 0) == 0);
#pragma omp taskwait
    CHECK(block_is_copied());
    clear();
    CHECK(omp_target_memcpy(zero, source, sizeof source, 0, 0, 0, host) == 0);
    CHECK(omp_target_memcpy(one, target, sizeof target, 0, 0, 1, host) == 0);
    CHECK(copy_block(one, zero, 1, 0, async, 0) == 0);
#pragma omp taskwait
    CHECK(omp_target_memcpy(target, one, sizeof target, 0, 0, host, 1) == 0);
    CHECK(block_is_copied());
    // The number of dimensions it can do.
    CHECK(copy_block(0, 0, host, host, async, 0) >= 3);
    CHECK(copy_block(0, source, host, host, async, 0) != 0);
    CHECK(copy_block(target, 0, host, host, async, 0) != 0);
  }
  size_t three[] = {2, 2, 2}, origin[] = {0, 0, 0}, cube[] = {3, 4, 4};
  clear();
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, three, origin, origin, cube, cube, host, host) == 0);
  CHECK(target[0] == 0 && target[2] == -1 && target[5] == 5 && target[16] == 16 && target[21] == 21 &&
        target[32] == -1);
  CHECK(omp_target_memcpy_rect(target, source, 0, 3, three, origin, origin, cube, cube, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 0, three, origin, origin, cube, cube, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, 0, origin, origin, cube, cube, host, host) != 0);
  // Volumes whose bytes no number can count.
  size_t vast[] = {(size_t)1 << 40, (size_t)1 << 40, 2}, last[] = {SIZE_MAX, 0, 0}, wrapping[] = {2, 0, 0};
  clear();
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, three, origin, origin, vast, cube, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, three, origin, origin, cube, vast, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, vast, origin, origin, cube, cube, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, three, last, origin, cube, cube, host, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, 4, 3, three, origin, last, cube, cube, 0, host) != 0);
  CHECK(omp_target_memcpy_rect(target, source, SIZE_MAX, 1, wrapping, origin, origin, cube, cube, host, host) != 0);
  CHECK(target[0] == -1);
  CHECK(omp_target_memcpy_rect_async(target, source, 4, 0, three, origin, origin, cube, cube, host, host, 0, 0) !=
        0);
  CHECK(omp_target_memcpy_rect_async(target, source, 0, 3, three, origin, origin, cube, cube, host, host, 0, 0) !=
        0);
  CHECK(ABORTS(omp_target_memcpy_rect(target, source, 4, 3, three, origin, origin, cube, cube, 99, host)));

  // Fills.
  CHECK(omp_target_memset(zero, 0x1ab, sizeof source, 0) == zero);
  CHECK(omp_target_memcpy(target, zero, sizeof target, 0, 0, host, 0) == 0);
  CHECK(target[0] == (int)0xabababab && target[SIZE - 1] == target[0]);
  CHECK(omp_target_memset(target, 0, 8, host) == target && target[1] == 0 && target[2] == (int)0xabababab);
  CHECK(omp_target_memset(0, 0, 8, 0) == 0);
  CHECK(omp_target_memset(target, 1, 0, host) == target && target[1] == 0);
  CHECK(ABORTS(omp_target_memset(zero, 0, 8, 99)));

  // Asynchronous, one after the other by their dependences.
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_depend_t depend;
#pragma omp depobj(depend) depend(inout : source)
    clear();
    CHECK(omp_target_memcpy_async(zero, source, sizeof source, 0, 0, 0, host, 1, &depend) == 0);
    CHECK(omp_target_memset_async(zero, 0, 16, 0, 1, &depend) == zero);
    CHECK(omp_target_memcpy_async(target, zero, sizeof target, 0, 0, host, 0, 1, &depend) == 0);
#pragma omp taskwait
    CHECK(target[3] == 0 && target[4] == 4 && target[SIZE - 1] == SIZE - 1);
    clear();
    CHECK(omp_target_memcpy(zero, source, sizeof source, 0, 0, 0, host) == 0);
    CHECK(copy_block(target, zero, host, 0, true, &depend) == 0);
#pragma omp taskwait
    CHECK(block_is_copied());
    CHECK(omp_target_memcpy_async(0, source, 4, 0, 0, 0, host, 0, 0) != 0);
    CHECK(omp_target_memcpy_async(zero, 0, 4, 0, 0, 0, host, 0, 0) != 0);
    CHECK(omp_target_memset_async(0, 0, 16, 0, 0, 0) == 0);
    CHECK(omp_target_memset_async(zero, 0, 0, 0, 0, 0) == zero);
#pragma omp taskwait
#pragma omp depobj(depend) destroy
  }
  omp_target_free(zero, 0);
  omp_target_free(one, 1);
  return 0;
}
