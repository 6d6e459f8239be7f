// An allocator that knows no blocks but its own, and a program that listens to what is told of it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ALLOCATOR
enum { HEAD = 64 };
static const uint64_t MARK = 0x6d616c6c6f63;

void *aligned_alloc(size_t alignment, size_t size)
{
  size_t whole = size + HEAD + alignment;
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
    _exit(write(2, text, sizeof text - 1) ? 9 : 8);
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

// Before anybody's `main`.
__attribute__((constructor)) static void early(void)
{
  void *volatile block = malloc(10);
  block = realloc(block, 20);
  free(block);
}
#endif

#ifdef PROGRAM
struct listener {
  void (*about)(const void *, size_t, unsigned);
  void (*done)(const void *, size_t);
};

static const void *volatile told, *volatile ended;
static volatile size_t size, frees;

static void about(const void *address, size_t of, unsigned access)
{
  if (access == 2 && address == told)
    size = of, ++frees;
}

static void done(const void *address, size_t of) { ended = address; }

static _Bool action(int number, const struct sigaction *new, struct sigaction *old)
{
  if (old)
    memset(old, 0, sizeof *old), old->sa_handler = (void (*)(int))1234;
  return number == SIGSEGV;
}

int main(int count, char **arguments)
{
  static const struct listener listener = {about, done};
  _Bool (*listen)(const struct listener *) = dlsym(RTLD_DEFAULT, "gangway_listen_to_host_access");
  void (*keep)(_Bool (*)(int, const struct sigaction *, struct sigaction *)) = dlsym(RTLD_DEFAULT, "gangway_listen_to_signals");
  char *volatile block = malloc(5000), room[8];
  if (!listen || !keep)
    return 1;
  keep(action);
  int hears = listen(&listener);
  told = block;
  block = realloc(block, 9000);
  told = block;
  free(block);
  // Nothing is written to a file that is not there, and what says so stays.
  int failed = write(-1, room, sizeof room) == -1 && ended == room;
  sigset_t all, now;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, 0);
  sigprocmask(SIG_SETMASK, 0, &now);
  int masks = sigismember(&now, SIGUSR1) == 1 && !sigismember(&now, SIGSEGV) && !sigismember(&now, SIGTRAP);
  int kept = signal(SIGSEGV, SIG_DFL) == (void (*)(int))1234 && signal(SIGUSR1, SIG_IGN) == SIG_DFL;
  printf("hears %d frees %zu size %d ended %d masks %d kept %d\n", hears, frees, size == 1 ? 1 : size >= 9000 ? 9000 : 0,
         failed, masks, kept);
  return 0;
}
#endif
