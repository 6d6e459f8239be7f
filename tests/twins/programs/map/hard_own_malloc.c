// The program brings its own allocator, which knows no blocks but its own.
// with: openmp
// device: cpu
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <stdlib.h>
#include <unistd.h>

enum { HEAD = 64, N = 1 << 14 };
static const uint64_t MARK = 0x6d616c6c6f63;

void *aligned_alloc(size_t alignment, size_t size)
{
  // A block: where it begins, how large it is, a mark, the block.
  size_t whole = size + HEAD + alignment + 4096;
  char *begin = mmap(0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED)
    return 0;
  char *block = (char *)(((uintptr_t)begin + HEAD + alignment - 1) / alignment * alignment);
  uint64_t head[] = {(uintptr_t)begin, whole, size, MARK};
  memcpy(block - sizeof head, head, sizeof head);
  return block;
}

void *malloc(size_t size) { return aligned_alloc(16, size); }
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment < 16 ? 16 : alignment, size); }
int posix_memalign(void **to, size_t alignment, size_t size) { return !(*to = memalign(alignment, size)); }
void *calloc(size_t count, size_t size) { return malloc(count * size); }

void free(void *block)
{
  uint64_t head[4];
  if (!block)
    return;
  memcpy(head, (char *)block - sizeof head, sizeof head);
  if (head[3] != MARK) {
    static const char text[] = "a foreign block\n";
    if (write(2, text, sizeof text - 1))
      _Exit(9);
  }
  munmap((void *)(uintptr_t)head[0], head[1]);
}

void *realloc(void *block, size_t size)
{
  uint64_t head[4];
  void *next = malloc(size);
  if (block) {
    memcpy(head, (char *)block - sizeof head, sizeof head);
    memcpy(next, block, size < head[2] ? size : head[2]);
    free(block);
  }
  return next;
}

int main(void)
{
  int *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; ++i)
    a[i] = 1;
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i;
#ifdef WRONG
  for (int i = 0; i < N; ++i)
    a[i] = 5;
#endif
#pragma omp target exit data map(from : a[0:N]) // finds: overwrites
  a = realloc(a, 2 * N * sizeof *a);
  printf("%d\n", a[5000]);
  free(a);
  return 0;
}
