// What a runtime on the device is made of: exchanges of lanes, barriers, atomic operations in all
// orders and scopes, special registers, spaces of addresses, calls through pointers, and a main
// thread that has warps of workers. The host gets what a thread gets alone; what only a device has
// is checked on the device, and the host takes it to be right.
typedef unsigned long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
#define NOINLINE __attribute__((noinline))
#define MIX(v) (hash = (hash ^ (u64)(v)) * 1099511628211ul)
#define THREADS 48
#define BLOCKS 2
#define ALL (THREADS * BLOCKS)

#ifdef __NVPTX__
#define SHARED __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(5)))
#define CONSTANT __attribute__((address_space(4)))
#define OK(condition) MIX((condition) ? 1 : 0)
#else
#define OK(condition) MIX(1)
#endif

// Of processors before sm_70 clang knows relaxed operations only.
#if defined(__NVPTX__) && __CUDA_ARCH__ < 700
#define ORDER(order) __ATOMIC_RELAXED
#else
#define ORDER(order) __ATOMIC_##order
#endif

#define SCOPES(f, ...) \
  f(__VA_ARGS__, __MEMORY_SCOPE_SYSTEM); \
  f(__VA_ARGS__, __MEMORY_SCOPE_DEVICE); \
  f(__VA_ARGS__, __MEMORY_SCOPE_WRKGRP); \
  f(__VA_ARGS__, __MEMORY_SCOPE_WVFRNT)
#define ORDERS(f, p, v) \
  SCOPES(f, p, v, ORDER(RELAXED)); \
  SCOPES(f, p, v, ORDER(ACQUIRE)); \
  SCOPES(f, p, v, ORDER(RELEASE)); \
  SCOPES(f, p, v, ORDER(ACQ_REL)); \
  SCOPES(f, p, v, ORDER(SEQ_CST))
#define FOUND(f, p, v, order, scope) MIX(f(p, v, order, scope))
#define ADD(...) FOUND(__scoped_atomic_fetch_add, __VA_ARGS__)
#define SUBTRACT(...) FOUND(__scoped_atomic_fetch_sub, __VA_ARGS__)
#define AND(...) FOUND(__scoped_atomic_fetch_and, __VA_ARGS__)
#define OR(...) FOUND(__scoped_atomic_fetch_or, __VA_ARGS__)
#define XOR(...) FOUND(__scoped_atomic_fetch_xor, __VA_ARGS__)
#define NAND(...) FOUND(__scoped_atomic_fetch_nand, __VA_ARGS__)
#define MINIMUM(...) FOUND(__scoped_atomic_fetch_min, __VA_ARGS__)
#define MAXIMUM(...) FOUND(__scoped_atomic_fetch_max, __VA_ARGS__)
#define EXCHANGE(...) FOUND(__scoped_atomic_exchange_n, __VA_ARGS__)
#define STORE(p, v, order, scope) (__scoped_atomic_store_n(p, v, order, scope), MIX(*(p)))
#define LOAD(p, order, scope) MIX(__scoped_atomic_load_n(p, order, scope))
#define COMPARE(p, wanted, new, scope) \
  do { \
    T found = (wanted); \
    MIX(__scoped_atomic_compare_exchange_n(p, &found, new, 0, ORDER(SEQ_CST), ORDER(ACQUIRE), scope)); \
    MIX(found); \
    MIX(__scoped_atomic_compare_exchange_n(p, &found, new, 0, ORDER(RELAXED), ORDER(RELAXED), scope)); \
    MIX(found); \
  } while (0)

/// All operations on an element that no other thread uses.
#define OPERATIONS(name, type, space) \
  NOINLINE static u64 name(space type *p, u64 hash, u32 seed) { \
    typedef type T; \
    ORDERS(ADD, p, (T)(seed * 77 + 1)); \
    ORDERS(EXCHANGE, p, (T)(seed - 9)); \
    SCOPES(SUBTRACT, p, (T)(seed / 3), ORDER(SEQ_CST)); \
    SCOPES(OR, p, (T)(seed << 3), ORDER(RELAXED)); \
    SCOPES(XOR, p, (T)(seed * 3), ORDER(ACQ_REL)); \
    SCOPES(AND, p, (T)~seed, ORDER(RELEASE)); \
    SCOPES(NAND, p, (T)(seed * 5), ORDER(ACQUIRE)); \
    SCOPES(MINIMUM, p, (T)(7 - seed), ORDER(SEQ_CST)); \
    SCOPES(MAXIMUM, p, (T)(seed - 20), ORDER(RELAXED)); \
    SCOPES(STORE, p, (T)(seed + 4), ORDER(RELAXED)); \
    SCOPES(COMPARE, p, (T)(seed + (seed & 4)), (T)(seed ^ 1)); \
    SCOPES(STORE, p, (T)(seed + 5), ORDER(RELEASE)); \
    SCOPES(STORE, p, (T)(seed + 6), ORDER(SEQ_CST)); \
    SCOPES(LOAD, p, ORDER(RELAXED)); \
    SCOPES(LOAD, p, ORDER(ACQUIRE)); \
    SCOPES(LOAD, p, ORDER(SEQ_CST)); \
    return MIX(*(volatile space T *)p); \
  }
#define FLOATS(name, type, space) \
  NOINLINE static u64 name(space type *p, u64 hash, u32 seed) { \
    typedef type T; \
    union { type value; u32 low; u64 bits; } found = {.bits = 0}; \
    SCOPES(found.value += __scoped_atomic_fetch_add, p, (T)(seed * 0.5 + 1), ORDER(RELAXED)); \
    SCOPES(found.value += __scoped_atomic_fetch_sub, p, (T)(seed * 0.25), ORDER(SEQ_CST)); \
    SCOPES(found.value += __scoped_atomic_fetch_min, p, (T)(3 - (int)seed), ORDER(ACQ_REL)); \
    SCOPES(found.value += __scoped_atomic_fetch_max, p, (T)(seed * 1.5), ORDER(RELAXED)); \
    MIX(found.bits); \
    return MIX((long)(*(volatile space T *)p * 4)); \
  }

OPERATIONS(on_u8, u8, )
OPERATIONS(on_s16, short, )
OPERATIONS(on_u32, u32, )
OPERATIONS(on_s32, int, )
OPERATIONS(on_u64, u64, )
OPERATIONS(on_s64, long, )
FLOATS(on_f32, float, )
FLOATS(on_f64, double, )

u8 bytes[ALL];
short halves[ALL];
u32 words[ALL];
int signed_words[ALL];
u64 wide[ALL];
long signed_wide[ALL];
float singles[ALL];
double doubles[ALL];

#ifdef __NVPTX__
OPERATIONS(on_shared_u32, u32, SHARED)
OPERATIONS(on_shared_s64, long, SHARED)
OPERATIONS(on_global_u64, u64, GLOBAL)
static SHARED u32 shared_words[THREADS];
static SHARED long shared_wide[THREADS];
#else
OPERATIONS(on_shared_u32, u32, )
OPERATIONS(on_shared_s64, long, )
OPERATIONS(on_global_u64, u64, )
static u32 shared_words[THREADS];
static long shared_wide[THREADS];
#define GLOBAL
#endif

/// What a thread computes alone, on the device and on the host.
static u64 alone(u64 hash, u32 block, u32 t) {
  u32 own = block * THREADS + t;
  hash = on_u8(&bytes[own], hash, own);
  hash = on_s16(&halves[own], hash, own);
  hash = on_u32(&words[own], hash, own);
  hash = on_s32(&signed_words[own], hash, own);
  hash = on_u64(&wide[own], hash, own);
  hash = on_s64(&signed_wide[own], hash, own);
  hash = on_f32(&singles[own], hash, own);
  hash = on_f64(&doubles[own], hash, own);
  shared_words[t] = 0;
  shared_wide[t] = 0;
  hash = on_shared_u32(&shared_words[t], hash, own);
  hash = on_shared_s64(&shared_wide[t], hash, own);
  hash = on_global_u64((GLOBAL u64 *)&wide[own], hash, own);
  return hash;
}

#ifdef __NVPTX__
extern int vprintf(const char *, void *);
extern void *malloc(u64);
extern void free(void *);
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
extern SHARED u32 dynamic[];
static SHARED u32 phases[64];
CONSTANT u32 constants[4] = {3, 1, 4, 1};
struct team {
  u32 sum, wraps, least;
  u64 total;
  float single;
  double twice;
  u8 byte;
} teams[BLOCKS];
#endif

/// Lanes of a warp, of which the second of the block has half of them.
NOINLINE static u64 lanes(u64 hash, u32 t) {
#ifdef __NVPTX__
  u32 lane = __nvvm_read_ptx_sreg_laneid(), all = t < 32 ? 0xffffffff : 0xffff, count = t < 32 ? 32 : 16;
#endif
  OK(lane == (t & 31) && __nvvm_read_ptx_sreg_warpsize() == 32);
  OK(__nvvm_activemask() == all);
  OK(__nvvm_read_ptx_sreg_lanemask_eq() == 1u << lane);
  OK(__nvvm_read_ptx_sreg_lanemask_lt() == (1u << lane) - 1);
  OK(__nvvm_read_ptx_sreg_lanemask_le() == (2u << lane) - 1);
  OK(__nvvm_read_ptx_sreg_lanemask_gt() == ~((2u << lane) - 1));
  OK(__nvvm_read_ptx_sreg_lanemask_ge() == ~((1u << lane) - 1));
  OK(__nvvm_shfl_sync_idx_i32(all, t, 3, 31) == (int)(t & ~31) + 3);
  OK(__nvvm_shfl_sync_idx_i32(all, lane, 1, 0x181f) == (int)(lane & ~7) + 1);
  OK(__nvvm_shfl_sync_down_i32(all, lane, 1, 31) == (int)(lane + 1 == count ? lane : lane + 1));
  OK(__nvvm_shfl_sync_up_i32(all, lane, 1, 0) == (int)(lane ? lane - 1 : 0));
  OK(__nvvm_shfl_sync_bfly_i32(all, lane, 1, 31) == (int)(lane ^ 1));
  OK(__nvvm_shfl_sync_idx_f32(all, lane * 0.5f, 5, 31) == 2.5f);
  OK(__nvvm_vote_all_sync(all, lane < 32) && !__nvvm_vote_all_sync(all, lane < 7));
  OK(__nvvm_vote_any_sync(all, lane == 7) && !__nvvm_vote_any_sync(all, lane == 77));
  OK(__nvvm_vote_uni_sync(all, lane == 77) && !__nvvm_vote_uni_sync(all, lane == 7));
  OK(__nvvm_vote_ballot_sync(all, lane & 1) == (0xaaaaaaaa & all));
  OK(__nvvm_fns(0xf0, 0, 3) == 6 && __nvvm_fns(0xf0, 7, -2) == 6);
  OK(__nvvm_fns(0xf0, 6, 0) == 6 && __nvvm_fns(0xf0, 3, 0) == 0xffffffff);
#ifdef __NVPTX__
  // Lanes that have parted meet only their like.
  u32 like = (lane & 1 ? 0xaaaaaaaa : 0x55555555) & all;
  if (lane & 1) {
    OK(__nvvm_activemask() == like);
    __nvvm_bar_warp_sync(like);
    OK(__nvvm_vote_ballot_sync(like, lane == 5) == 32);
  } else {
    OK(__nvvm_activemask() == like);
    __nvvm_bar_warp_sync(like);
    OK(__nvvm_vote_ballot_sync(like, lane == 5) == 0);
  }
  __nvvm_bar_warp_sync(all);
#else
  MIX(1), MIX(1);
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 700
  int same = 7;
  OK(__nvvm_match_any_sync_i32(all, lane & 3) == ((0x11111111u << (lane & 3)) & all));
  OK(__nvvm_match_any_sync_i64(all, (u64)(lane & 1) << 40) == ((0x55555555u << (lane & 1)) & all));
  OK(__nvvm_match_all_sync_i32p(all, 5, &same) == all && same == 1);
  OK(__nvvm_match_all_sync_i64p(all, lane, &same) == 0 && same == 0);
  __nvvm_nanosleep(20);
#else
  MIX(1), MIX(1), MIX(1), MIX(1);
#endif
#if defined(__NVPTX__) && __CUDA_ARCH__ >= 800
  OK(__nvvm_redux_sync_add(lane, all) == (int)(count * (count - 1) / 2));
  OK(__nvvm_redux_sync_umax(lane, all) == count - 1);
  OK(__nvvm_redux_sync_min(-(int)lane, all) == 1 - (int)count);
  OK(__nvvm_redux_sync_or(1 << lane, all) == (int)all);
#else
  MIX(1), MIX(1), MIX(1), MIX(1);
#endif
  return hash;
}

/// Barriers of the block, whose numbers and counts may be known only when it runs.
NOINLINE static u64 barriers(u64 hash, u32 t) {
#ifdef __NVPTX__
  u32 n = __nvvm_read_ptx_sreg_ntid_x(), whole = (n + 31) & ~31u;
  shared_words[t] = t * 3;
  __syncthreads();
  OK(shared_words[(t + 1) % n] == (t + 1) % n * 3);
  OK(__nvvm_bar0_popc(t & 1) == (int)(n / 2));
  OK(__nvvm_bar0_and(t < n) && !__nvvm_bar0_and(t == 40));
  OK(__nvvm_bar0_or(t == 40) && !__nvvm_bar0_or(t == 77));
  __nvvm_barrier_sync(0);
  dynamic[t] = t + 7;
  __nvvm_barrier_sync_cnt(t / 64 + 1, whole);
  OK(dynamic[t ^ 1] == (t ^ 1) + 7);
  __nvvm_bar_sync(2);
  if (t >= 32) {
    phases[t] = 1;
    __nvvm_barrier_sync_cnt(3, 32);
    OK(phases[t ^ 3] == 1);
  } else {
    phases[t] = 2;
    __nvvm_barrier_sync_cnt(4, 32);
    OK(phases[t ^ 3] == 2);
  }
  if (t == 0) {
    // One lane waits elsewhere than all others.
    phases[63] = 1234;
    __nvvm_barrier_sync(7);
  } else {
    __nvvm_barrier_sync(7);
  }
  OK(phases[63] == 1234);
  __nvvm_membar_cta();
  __nvvm_membar_gl();
  __nvvm_membar_sys();
#else
  for (int check = 0; check < 7; check++) MIX(1);
#endif
  return hash;
}

/// What all threads of a block do to the same memory.
NOINLINE static u64 together(u64 hash, u32 t) {
#ifdef __NVPTX__
  struct team *team = &teams[BLOCK];
  __atomic_fetch_add(&team->sum, t, ORDER(SEQ_CST));
  __scoped_atomic_fetch_add(&team->total, t, ORDER(ACQ_REL), __MEMORY_SCOPE_WRKGRP);
  __atomic_fetch_add(&team->single, 1.5f, ORDER(RELAXED));
  __atomic_fetch_sub(&team->twice, 0.25, ORDER(SEQ_CST));
  __atomic_fetch_max(&team->least, t, ORDER(RELAXED));
  __atomic_fetch_add(&team->byte, 1, ORDER(RELAXED));
  __nvvm_atom_inc_gen_ui(&team->wraps, 40);
  __nvvm_atom_cta_add_gen_i((int *)&team->sum, 1);
  __nvvm_atom_sys_add_gen_i((int *)&team->sum, 1);
  __nvvm_atom_add_gen_d(&team->twice, 1.0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __scoped_atomic_thread_fence(__ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
  __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_WRKGRP);
  __syncthreads();
#endif
  OK(team->sum == THREADS * (THREADS - 1) / 2 + 2 * THREADS && team->total == THREADS * (THREADS - 1) / 2);
  OK(team->single == 1.5f * THREADS && team->twice == 0.75 * THREADS);
  OK(team->least == THREADS - 1 && team->byte == THREADS && team->wraps == THREADS % 41);
  return hash;
}

/// Special registers, and addresses of each space.
NOINLINE static u64 places(u64 hash, u32 t, u64 *out) {
#ifdef __NVPTX__
  u64 cycles = __nvvm_read_ptx_sreg_clock64(), nanoseconds = __nvvm_read_ptx_sreg_globaltimer();
  u64 counter = __builtin_readcyclecounter(), steady = __builtin_readsteadycounter();
  u32 clock = __nvvm_read_ptx_sreg_clock(), total, extra;
  int own = t, *local = &own;
  u32 *word = (u32 *)&shared_words[t];
  __asm__ volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
  __asm__ volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(extra));
  *word = 7 + t;
#endif
  OK(__nvvm_read_ptx_sreg_ntid_x() == THREADS && __nvvm_read_ptx_sreg_ntid_y() == 1);
  OK(__nvvm_read_ptx_sreg_ntid_z() == 1 && __nvvm_read_ptx_sreg_tid_y() + __nvvm_read_ptx_sreg_tid_z() == 0);
  OK(__nvvm_read_ptx_sreg_ctaid_y() + __nvvm_read_ptx_sreg_ctaid_z() == 0);
  OK(__nvvm_read_ptx_sreg_nctaid_x() == BLOCKS && __nvvm_read_ptx_sreg_nctaid_y() == 1);
  OK(__nvvm_read_ptx_sreg_warpid() == t / 32 && __nvvm_read_ptx_sreg_nwarpid() >= 2);
  OK(__nvvm_read_ptx_sreg_smid() < __nvvm_read_ptx_sreg_nsmid());
  OK(__nvvm_read_ptx_sreg_clock64() >= cycles && (int)(__nvvm_read_ptx_sreg_clock() - clock) >= 0);
  OK(__nvvm_read_ptx_sreg_globaltimer() >= nanoseconds);
  OK(__builtin_readcyclecounter() >= counter && __builtin_readsteadycounter() >= steady);
  OK(__nvvm_isspacep_local(local) && !__nvvm_isspacep_shared(local) && !__nvvm_isspacep_global(local));
  OK(__nvvm_isspacep_global(out) && !__nvvm_isspacep_local(out) && !__nvvm_isspacep_const(out));
  OK(__nvvm_isspacep_shared(word) && !__nvvm_isspacep_global(word));
  OK(__nvvm_isspacep_const((u32 *)&constants[1]) && *(u32 *)&constants[t & 3] == constants[t & 3]);
  OK(shared_words[t] == 7 + t && (SHARED u32 *)word == &shared_words[t]);
  OK((*(LOCAL int *)local = 8, own == 8));
  OK(__nvvm_ldg_ui((const u32 *)&teams[0].sum) == teams[0].sum);
  OK(total >= extra && extra == 512 && (u32)(u64)&dynamic[0] % 4 == 0);
  return hash;
}

typedef u64 (*function)(u64, u32);
NOINLINE static u64 plain(u64 a, u32 b) { return a * 3 + b; }
NOINLINE static u64 recursive(u64 a, u32 b) { return b < 2 ? 1 : recursive(a, b - 1) + recursive(a, b - 2) + (a & 1); }
NOINLINE static u64 indexed(u64 a, u32 b) {
  u32 values[8];
  for (int i = 0; i < 8; i++) values[i] = a >> i;
  return values[b & 7];
}
function table[3] = {plain, recursive, indexed};

NOINLINE static u64 variadic(int n, ...) {
  __builtin_va_list list;
  __builtin_va_start(list, n);
  u64 sum = 0;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) sum = sum * 3 + __builtin_va_arg(list, int);
    if (i % 3 == 1) sum = sum * 5 + __builtin_va_arg(list, long);
    if (i % 3 == 2) sum = sum * 7 + (u64)__builtin_va_arg(list, double);
  }
  __builtin_va_end(list);
  return sum;
}

struct big {
  u64 words[40];
  char tail[13];
};
struct big source;
NOINLINE static struct big change(struct big value, u32 t) {
  value.words[t % 40] += t;
  value.tail[t % 13] = (char)t;
  return value;
}

NOINLINE static u32 choose(u32 which, u32 *p) {
  switch (which) {
  case 0: return p[0];
  case 1: return p[1] * 3;
  case 2: p[2] = 5; return 9;
  case 3: return p[3] ^ p[0];
  case 4: return ~p[0];
  case 5: p[1]++; return 4;
  case 6: return p[0] / (p[1] | 1);
  case 7: return 88;
  default: return 5;
  }
}

NOINLINE static u64 calls(u64 hash, u32 t) {
  MIX(table[t % 3](t, t % 9));
  function other = *(function volatile *)&table[(t + 1) % 3];
  MIX(other(t * 5, t % 7));
  MIX(variadic(6, (int)t, (long)t * 7, t * 0.5, 4, 5l, 6.0));
  struct big value = source;
  __builtin_memset(&value, (int)t, sizeof value);
  value = change(value, t);
  for (int i = 0; i < 40; i++) MIX(value.words[i]);
  for (int i = 0; i < 13; i++) MIX(value.tail[i]);
  unsigned __int128 product = ((unsigned __int128)hash << 64 | t) * (hash | 1);
  MIX(product >> 64);
  MIX(product / (hash | 1));
  MIX(product % ((unsigned __int128)hash << 20 | 7));
  MIX((__int128)product / -7);
  u32 p[4] = {t, t + 1, 2, 3};
  MIX(choose(t % 10, p));
  MIX(p[1] + p[2]);
#ifdef PTX_73
  char *bytes = __builtin_alloca(t + 1);
#else
  char bytes[THREADS];
#endif
  for (u32 i = 0; i <= t; i++) bytes[i] = (char)(i * t);
  MIX(bytes[t] + bytes[t / 2]);
#ifdef __NVPTX__
  u64 *heap = malloc(8 * (t + 1));
  struct { int a; long b; double c; } arguments = {7, 8, 2.5};
  if (heap) heap[t] = t;
#endif
  OK(heap && heap[t] == t);
  OK((free(heap), vprintf("", &arguments) >= 0));
  return hash;
}

#ifdef __NVPTX__
/// A thread of the second warp is the team's main thread, and the others of it leave; the first
/// warp's are workers, which take regions until there is none.
typedef void (*region)(u32 *, u32 *, u64 *);
static SHARED region work;
static u64 *SHARED arguments;
u64 collected[BLOCKS][32];
NOINLINE static void squares(u32 *number, u32 *team, u64 *to) { to[*number] = *number * *number + *team; }
NOINLINE static void neighbours(u32 *number, u32 *team, u64 *to) {
  u64 other = to[(*number + 1) % 32];
  __nvvm_barrier_sync_cnt(1, 32);
  to[*number] += other;
}

NOINLINE static u64 generic(u64 hash, u32 t) {
  u32 team = BLOCK, number = t;
  if (t > 32) __nvvm_exit();
  if (t == 32) {
    u64 sum = 0;
    arguments = collected[team];
    for (int round = 0; round < 3; round++) {
      work = round & 1 ? neighbours : squares;
      __nvvm_barrier_sync(8);
      __nvvm_barrier_sync(8);
      for (int i = 0; i < 32; i++) sum = sum * 3 + collected[team][i];
    }
    work = 0;
    __nvvm_barrier_sync(8);
    return MIX(sum);
  }
  for (;;) {
    __nvvm_barrier_sync(8);
    region todo = work;
    if (!todo) return hash;
    todo(&number, &team, arguments);
    __nvvm_barrier_sync(8);
  }
}
#else
static u64 generic(u64 hash, u32 block, u32 t) {
  u64 sum = 0, to[32], next[32];
  for (int round = 0; round < 3; round++) {
    for (u32 i = 0; i < 32; i++) next[i] = round & 1 ? to[i] + to[(i + 1) % 32] : i * i + block;
    __builtin_memcpy(to, next, sizeof to);
    for (int i = 0; i < 32; i++) sum = sum * 3 + to[i];
  }
  return t == 32 ? MIX(sum) : hash;
}
#endif

static u64 shared_part(u64 hash, u32 t, u64 *out) {
  hash = lanes(hash, t);
  hash = barriers(hash, t);
  hash = together(hash, t);
  hash = places(hash, t, out);
  return calls(hash, t);
}

#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void k(u64 *out) {
  u32 t = TID, own = BLOCK * THREADS + t;
  u64 hash = alone(14695981039346656037ul, BLOCK, t);
  __syncthreads();
  hash = shared_part(hash, t, out);
  out[own] = hash;
  out[own] = generic(hash, t);
}
#else
extern int printf(const char *, ...);
int main(void) {
  for (u32 block = 0; block < BLOCKS; block++)
    for (u32 t = 0; t < THREADS; t++) {
      u64 hash = alone(14695981039346656037ul, block, t);
      printf("%016lx\n", generic(shared_part(hash, t, 0), block, t));
    }
}
#endif
