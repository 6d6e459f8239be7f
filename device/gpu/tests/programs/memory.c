// Allocators, the heap, and the C library's memory functions on the device.
#include "check.h"
#include <stdint.h>
#include <string.h>

int main(void) {
  int aligned = 1, zeros = 1, kept = 1, team = 0, heap = 0, same = 0, length = 0;
#pragma omp target map(tofrom : aligned, zeros, kept, team, heap, same, length)
  {
    for (size_t align = 8; align <= 1024; align *= 2) {
      char *memory = omp_aligned_alloc(align, 100, omp_default_mem_alloc);
      aligned &= (uintptr_t)memory % align == 0;
      memset(memory, 1, 100);
      omp_free(memory, omp_default_mem_alloc);
    }
    int *cleared = omp_calloc(50, sizeof *cleared, omp_large_cap_mem_alloc);
    for (int i = 0; i < 50; ++i) {
      zeros &= cleared[i] == 0;
      cleared[i] = i;
    }
    cleared = omp_realloc(cleared, 500 * sizeof *cleared, omp_large_cap_mem_alloc, omp_large_cap_mem_alloc);
    for (int i = 0; i < 50; ++i)
      kept &= cleared[i] == i;
    omp_free(cleared, omp_null_allocator);
    int *shared = omp_alloc(32 * sizeof *shared, omp_pteam_mem_alloc);
#pragma omp parallel num_threads(32)
    shared[omp_get_thread_num()] = omp_get_thread_num();
    for (int i = 0; i < 32; ++i)
      team += shared[i];
    omp_free(shared, omp_pteam_mem_alloc);
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    omp_allocator_handle_t own = omp_init_allocator(omp_default_mem_space, 1, traits);
    char *memory = omp_alloc(10, own);
    aligned &= (uintptr_t)memory % 256 == 0;
    omp_free(memory, own);
    omp_destroy_allocator(own);

    char *text = malloc(64), *other = malloc(64);
    memcpy(text, "device", 7);
    memmove(text + 2, text, 7);
    memcpy(other, text, 9);
    same = memcmp(text, other, 9) == 0 && memcmp("abc", "abd", 3) < 0;
    length = strlen(other);
    free(text), free(other);
    heap = 1;
  }
  CHECK(aligned, 1);
  CHECK(zeros, 1);
  CHECK(kept, 1);
  CHECK(team, 496);
  CHECK(heap, 1);
  CHECK(same, 1);
  CHECK(length, 8);
  // More than the driver's own 8 MiB at once, freed by another kernel.
  enum { PIECES = 4000, WORDS = 2000 };
  static int *pieces[PIECES];
  int lacking = 0;
#pragma omp target enter data map(alloc : pieces)
#pragma omp target teams distribute parallel for reduction(+ : lacking)
  for (int i = 0; i < PIECES; ++i) {
    pieces[i] = malloc(WORDS * sizeof(int));
    lacking += pieces[i] == NULL;
    for (int k = 0; pieces[i] && k < WORDS; k += 100)
      pieces[i][k] = i + k;
  }
  CHECK(lacking, 0);
#pragma omp target teams distribute parallel for reduction(+ : lacking)
  for (int i = 0; i < PIECES; ++i) {
    for (int k = 0; pieces[i] && k < WORDS; k += 100)
      lacking += pieces[i][k] != i + k;
    free(pieces[i]);
  }
  CHECK(lacking, 0);
#pragma omp target exit data map(delete : pieces)
  return finish();
}
