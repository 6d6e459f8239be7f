// `malloc` and its kin on a device whose heap has 8 MiB of its 512 MiB: the rest comes from the host.
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { BLOCKS = 1024, KIB = 1024, MIB = 1024 * KIB, MOST = 4096 };

static char *blocks[BLOCKS];
static void *large[MOST];
#pragma omp declare target(blocks, large)

#pragma omp begin declare target
static size_t size_of(int block) { return 9 + (size_t)block * 7919 % (48 * KIB); }
static char first_of(int block) { return (char)(block % 127 + 1); }
static char last_of(int block) { return (char)(block % 113 + 2); }
static void *(*volatile allocate)(size_t) = malloc;
#pragma omp end declare target

// All threads of many teams allocate, and other threads look whether each block is its own.
static void blocks_are_apart(int round) {
  int missing = 0, wrong = 0;
#pragma omp target teams distribute parallel for reduction(+ : missing) map(tofrom : missing)
  for (int i = 0; i < BLOCKS; ++i) {
    if (blocks[i]) continue;
    char *block = (i & 7) == 3 ? calloc(size_of(i), 1) : malloc(size_of(i));
    missing += !block;
    if (!block) continue;
    if ((i & 7) == 3) missing += block[size_of(i) / 2] != 0;
    block[0] = first_of(i);
    block[size_of(i) - 1] = last_of(i);
    blocks[i] = block;
  }
#pragma omp target teams distribute parallel for reduction(+ : wrong) map(tofrom : wrong)
  for (int i = BLOCKS - 1; i >= 0; --i) {
    char *block = blocks[i];
    wrong += (uintptr_t)block % 16 != 0 || block[0] != first_of(i) || block[size_of(i) - 1] != last_of(i);
    if (i % 3 == round % 3) {
      free(block);
      blocks[i] = 0;
    }
  }
  CHECK(missing, 0);
  CHECK(wrong, 0);
}

// One thread takes all there is, twice: what has been freed is there again.
static void all_memory_is_found_again(void) {
  int taken[2] = {0, 0};
  for (int round = 0; round < 2; ++round) {
#pragma omp target map(from : taken[round : 1])
    {
      int count = 0;
      while (count < MOST && (large[count] = malloc(MIB))) ++count;
      for (int i = 0; i < count; ++i) *(int *)large[i] = i;
      taken[round] = count;
      for (int i = 0; i < count; ++i) {
        if (*(int *)large[i] != i) taken[round] = -1;
        free(large[i]);
      }
    }
  }
  CHECK(taken[0] > 256 && taken[0] < 512, 1);
  CHECK(taken[1] >= taken[0] - 16, 1);
}

static void odd_requests(void) {
  int wrong = 0;
#pragma omp target map(tofrom : wrong)
  {
    free(0);
    wrong |= malloc(SIZE_MAX) != 0;
    wrong |= (malloc(SIZE_MAX / 2) != 0) << 1;
    wrong |= (calloc(SIZE_MAX / 2, 4) != 0) << 2;
    wrong |= (aligned_alloc(48, 96) != 0) << 3;
    wrong |= (aligned_alloc(0, 96) != 0) << 4;
    for (size_t alignment = 1; alignment <= 2 * MIB; alignment *= 2) {
      char *memory = aligned_alloc(alignment, 3 * alignment);
      if (!memory || (uintptr_t)memory % alignment) {
        wrong |= 1 << 5;
        continue;
      }
      memory[3 * alignment - 1] = 1;
      free(memory);
    }
    wrong |= (aligned_alloc(4 * MIB, 4 * MIB) != 0) << 6;
    int *through_pointer = allocate(64 * MIB);
    wrong |= !through_pointer << 7;
    if (through_pointer) through_pointer[16 * MIB - 1] = 1;
    free(through_pointer);
  }
  CHECK(wrong, 0);
}

int main(void) {
  for (int round = 0; round < 3; ++round) blocks_are_apart(round);
#pragma omp target teams distribute parallel for
  for (int i = 0; i < BLOCKS; ++i) free(blocks[i]);
  odd_requests();
  all_memory_is_found_again();
  return finish();
}
