// Calls the archive's entry points directly, as compilers other than flang 22
// would. An ordinary program: the archive is code for the process that it is
// linked into, so a device image is not needed. Prints how many checks failed,
// and of how many; the harness compares the whole line. (No OpenMP directives:
// with -fopenmp, clang 22 crashes on declarations of its own runtime.)

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  uint8_t state_machine, nested, mode;
  int32_t min_threads, max_threads, min_teams, max_teams, data_size, length;
  const void *location, *dynamic;
} environment_t;

typedef void outlined_t(int *, int *, ...);

int __kmpc_target_init(const environment_t *, void *);
void __kmpc_target_deinit(void);
void __kmpc_parallel_51(void *, int, int, int, int, void *, void *, void **, int64_t);
void __kmpc_parallel_60(void *, int, int, int, int, void *, void *, void **, int64_t, int);
int8_t __kmpc_is_spmd_exec_mode(void);
uint32_t __kmpc_get_hardware_thread_id_in_block(void);
uint32_t __kmpc_get_hardware_num_threads_in_block(void);
uint32_t __kmpc_get_warp_size(void);
uint64_t __kmpc_warp_active_thread_mask(void);
void __kmpc_syncwarp(uint64_t);
void __kmpc_barrier_simple_spmd(void *, int);
void __kmpc_barrier_simple_generic(void *, int);
void *__kmpc_alloc_shared(uint64_t);
void __kmpc_free_shared(void *, uint64_t);
int __kmpc_global_thread_num(void *);

#define LOOPS(suffix, type)                                                    \
  void __kmpc_for_static_loop_##suffix(void *, void (*)(type, void *), void *, \
                                       type, type, type, uint8_t);             \
  void __kmpc_distribute_static_loop_##suffix(                                 \
      void *, void (*)(type, void *), void *, type, type, uint8_t);            \
  void __kmpc_distribute_for_static_loop_##suffix(                             \
      void *, void (*)(type, void *), void *, type, type, type, type, uint8_t);
LOOPS(4, int32_t)
LOOPS(4u, uint32_t)
LOOPS(8, int64_t)
LOOPS(8u, uint64_t)

enum { LIMIT = 1000 };
typedef struct {
  int hits[LIMIT], owner[LIMIT];
  int64_t count, team_chunk, thread_chunk;
} loop_t;

static int checks, failures;

static void check(int holds) {
  checks++;
  failures += !holds;
}

// One parallel region per kind of loop and width: (thread*, bound*, loop*).
#define BODIES(suffix, type)                                                   \
  static void body_##suffix(type iteration, void *argument) {                  \
    loop_t *loop = argument;                                                   \
    __atomic_fetch_add(&loop->hits[iteration], 1, __ATOMIC_SEQ_CST);           \
    loop->owner[iteration] = omp_get_thread_num();                             \
  }                                                                            \
  static void for_##suffix(int *thread, int *bound, loop_t *loop) {            \
    __kmpc_for_static_loop_##suffix(0, body_##suffix, loop, loop->count,       \
                                    omp_get_num_threads(), loop->thread_chunk, \
                                    0);                                        \
  }                                                                            \
  static void both_##suffix(int *thread, int *bound, loop_t *loop) {           \
    __kmpc_distribute_for_static_loop_##suffix(                                \
        0, body_##suffix, loop, loop->count, omp_get_num_threads(),            \
        loop->team_chunk, loop->thread_chunk, 1);                              \
  }                                                                            \
  static void loops_##suffix(loop_t *loop) {                                   \
    void *arguments[] = {loop};                                                \
    prepare(loop);                                                             \
    __kmpc_parallel_60(0, 0, 1, -1, -1, for_##suffix, 0, arguments, 1, 0);     \
    verify(loop, loop->thread_chunk, LIMIT);                                   \
    prepare(loop);                                                             \
    __kmpc_parallel_51(0, 0, 1, -1, -1, both_##suffix, 0, arguments, 1);       \
    verify(loop, loop->thread_chunk, loop->team_chunk);                        \
    prepare(loop);                                                             \
    __kmpc_distribute_static_loop_##suffix(0, body_##suffix, loop,             \
                                           loop->count, loop->team_chunk, 0);  \
    verify(loop, 0, LIMIT);                                                    \
  }

static void prepare(loop_t *loop) {
  memset(loop->hits, 0, sizeof loop->hits);
  memset(loop->owner, -1, sizeof loop->owner);
}

// Each iteration once; with a chunk, each by the thread that the schedule names.
static void verify(const loop_t *loop, int64_t chunk, int64_t team_chunk) {
  int64_t count = loop->count < 0 ? 0 : loop->count, right = 0;
  int threads = omp_get_max_threads();
  if (team_chunk == 0) team_chunk = LIMIT;
  for (int64_t i = 0; i < LIMIT; i++) {
    int owner = chunk ? (int)(i % team_chunk / chunk % threads) : loop->owner[i];
    right += i < count ? loop->hits[i] == 1 && loop->owner[i] == owner
                       : loop->hits[i] == 0;
  }
  check(right == LIMIT);
}

BODIES(4, int32_t)
BODIES(4u, uint32_t)
BODIES(8, int64_t)
BODIES(8u, uint64_t)

// Regions with 0 to 8 arguments: each thread adds up what it was given.
static int total;
static void add(int64_t value) {
  __atomic_fetch_add(&total, (int)value, __ATOMIC_SEQ_CST);
}
typedef int *p;
static void take0(p t, p b) { add(1); }
static void take2(p t, p b, p x, p y) { add(*x + *y); }
static void take5(p t, p b, p v, p w, p x, p y, p z) { add(*v + *w + *x + *y + *z); }
static void take8(p t, p b, p s, p u, p v, p w, p x, p y, p z, p a) {
  add(*s + *u * 2 + *v * 3 + *w * 4 + *x * 5 + *y * 6 + *z * 7 + *a * 8);
}

static int fork(void *region, int count, int condition, int threads, int strict) {
  int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  void *arguments[8];
  for (int i = 0; i < 8; i++) arguments[i] = &values[i];
  total = 0;
  __kmpc_parallel_60(0, 0, condition, threads, 2, region, 0, arguments, count, strict);
  return total;
}

static void regions(void) {
  int threads = omp_get_max_threads();
  check(fork(take0, 0, 1, -1, 0) == threads);
  check(fork(take2, 2, 1, -1, 0) == 3 * threads);
  check(fork(take5, 5, 1, -1, 0) == 15 * threads);
  check(fork(take8, 8, 1, -1, 0) == 204 * threads);
  check(fork(take8, 8, 0, -1, 0) == 204);
  check(fork(take0, 0, 0, 5, 0) == 1);
  check(fork(take0, 0, 1, -1, 0) == threads);
  check(fork(take0, 0, 1, 2, 0) == 2);
  check(fork(take0, 0, 1, 2, 1) == 2);
}

static void block(p t, p b, p order) {
  int id = __kmpc_get_hardware_thread_id_in_block();
  int size = __kmpc_get_hardware_num_threads_in_block();
  __atomic_fetch_add(&order[0], id == omp_get_thread_num() && size == omp_get_num_threads(), __ATOMIC_SEQ_CST);
  __kmpc_barrier_simple_spmd(0, __kmpc_global_thread_num(0));
  __atomic_fetch_add(&order[1], order[0] == size, __ATOMIC_SEQ_CST);
  __kmpc_barrier_simple_generic(0, __kmpc_global_thread_num(0));
  __atomic_fetch_add(&order[2], order[1] == size, __ATOMIC_SEQ_CST);
}

static void block_queries(void) {
  int order[3] = {0};
  void *arguments[] = {order};
  __kmpc_parallel_60(0, 0, 1, -1, -1, block, 0, arguments, 1, 0);
  int threads = omp_get_max_threads();
  check(order[0] == threads && order[1] == threads && order[2] == threads);
  check(__kmpc_get_hardware_thread_id_in_block() == 0);
  check(__kmpc_get_hardware_num_threads_in_block() == 1);
  check(__kmpc_get_warp_size() == 1 && __kmpc_warp_active_thread_mask() == 1);
  __kmpc_syncwarp(1);
  char *shared = __kmpc_alloc_shared(4096);
  memset(shared, 1, 4096);
  check(shared[4095] == 1);
  __kmpc_free_shared(shared, 4096);
}

// Kernels nest on a thread, keep their modes apart and restore the limit.
static void kernels(int depth) {
  environment_t environment = {0, 1, depth % 2 ? 2 : 1, 1, depth + 1};
  int limit = omp_get_thread_limit();
  check(__kmpc_target_init(&environment, (void *)-1) == -1);
  check(__kmpc_is_spmd_exec_mode() == depth % 2);
  check(omp_get_thread_limit() == (limit < depth + 1 ? limit : depth + 1));
  if (depth) kernels(depth - 1);
  check(__kmpc_is_spmd_exec_mode() == depth % 2);
  __kmpc_target_deinit();
  check(omp_get_thread_limit() == limit);
}

static void all(int *result) {
  static loop_t loop;
  static const int64_t counts[] = {-5, 0, 1, 2, 6, 7, 63, 64, 500, 1000};
  static const int64_t chunks[] = {0, 1, 3, 64};
  checks = failures = 0;
  check(omp_is_initial_device());
  for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
    for (unsigned t = 0; t < 4; t++)
      for (unsigned h = 0; h < 4; h++) {
        loop.count = counts[c];
        loop.team_chunk = chunks[t];
        loop.thread_chunk = chunks[h];
        loops_4(&loop);
        loops_8(&loop);
        if (loop.count < 0) continue; // unsigned: many, not none
        loops_4u(&loop);
        loops_8u(&loop);
      }
  regions();
  block_queries();
  kernels(20);
  check(!omp_is_initial_device());
  result[0] = checks;
  result[1] = failures;
}

int main(void) {
  int result[2];
  all(result);
  printf("%d threads: %d failures of %d\n", omp_get_max_threads(), result[1], result[0]);
  return 0;
}
