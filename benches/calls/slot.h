/* What Gangway's channel is held against: the protocol by which libgomp's devices call the host
 * since GCC 13. There is one slot for all callers, behind a lock. The host looks at it,
 * serves what stands there, and sleeps for a microsecond, again and again.
 *
 * Two things are better here than there: memory is ordered, and the block stands in the slot,
 * where libgomp copies it from the device by itself. Very many callers of a slot would take
 * minutes. So it serves them for some seconds, and those that have not had it then give up. */
#ifndef GANGWAY_BENCH_SLOT_H
#define GANGWAY_BENCH_SLOT_H

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

void *llvm_omp_target_alloc_host(size_t size, int device);
void llvm_omp_target_free_host(void *memory, int device);

/* In memory that host and device see. */
struct slot {
  unsigned lock, full, over;
  long block;
};

enum { SLOT_SECONDS = 3 };

#pragma omp begin declare target
static int slot_is_over(struct slot *slot) { return __atomic_load_n(&slot->over, __ATOMIC_RELAXED); }

/* Answers whether it has been served. */
static int slot_call(struct slot *slot, long *block) {
  while (__atomic_exchange_n(&slot->lock, 1, __ATOMIC_ACQUIRE))
    if (slot_is_over(slot))
      return 0;
  slot->block = *block;
  __atomic_store_n(&slot->full, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&slot->full, __ATOMIC_ACQUIRE))
    ;
  *block = slot->block;
  __atomic_store_n(&slot->lock, 0, __ATOMIC_RELEASE);
  return 1;
}
#pragma omp end declare target

static struct {
  struct slot *slot;
  void (*function)(void *, size_t);
  pthread_t thread;
  int over;
  /* Calls served, and when the slot gives up, if it has been told to. */
  long served;
  double until_ns;
} slot_server;

static void *slot_look(void *unused) {
  struct slot *slot = slot_server.slot;
  while (!__atomic_load_n(&slot_server.over, __ATOMIC_RELAXED)) {
    if (__atomic_load_n(&slot->full, __ATOMIC_ACQUIRE)) {
      slot_server.function(&slot->block, sizeof slot->block);
      ++slot_server.served;
      if (slot_server.until_ns > 0 && now_ns() > slot_server.until_ns)
        __atomic_store_n(&slot->over, 1, __ATOMIC_RELAXED);
      __atomic_store_n(&slot->full, 0, __ATOMIC_RELEASE);
    }
    usleep(1);
  }
  return unused;
}

static struct slot *slot_serve(void (*function)(void *, size_t)) {
  struct slot *slot = llvm_omp_target_alloc_host(sizeof *slot, omp_get_default_device());
  require(slot != NULL, "there is no memory that host and device see");
  memset(slot, 0, sizeof *slot);
  slot_server.slot = slot;
  slot_server.function = function;
  require(!pthread_create(&slot_server.thread, NULL, slot_look, NULL), "no thread can be started");
  return slot;
}

static void slot_end(struct slot *slot) {
  __atomic_store_n(&slot_server.over, 1, __ATOMIC_RELAXED);
  pthread_join(slot_server.thread, NULL);
  llvm_omp_target_free_host(slot, omp_get_default_device());
}

#endif
