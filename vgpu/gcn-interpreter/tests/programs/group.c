// What a runtime on the device is made of: LDS, barriers, atomic operations in all orders and scopes,
// exchanges of lanes, spaces of addresses, waves that wait for each other. The host gets what an item
// gets alone; what only a device has is checked on the device, and the host takes it to be right.
#include "run.h"

#define ORDERS(f, p, v) \
  f(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WVFRNT); f(p, v, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP); \
  f(p, v, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE); f(p, v, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_SYSTEM); \
  f(p, v, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM); f(p, v, __ATOMIC_SEQ_CST, __MEMORY_SCOPE_DEVICE)
#define FOUND(f, p, v, order, scope) hash = hash * 31 + (u64)f(p, v, order, scope)
#define ADD(...) FOUND(__scoped_atomic_fetch_add, __VA_ARGS__)
#define SUBTRACT(...) FOUND(__scoped_atomic_fetch_sub, __VA_ARGS__)
#define AND(...) FOUND(__scoped_atomic_fetch_and, __VA_ARGS__)
#define OR(...) FOUND(__scoped_atomic_fetch_or, __VA_ARGS__)
#define XOR(...) FOUND(__scoped_atomic_fetch_xor, __VA_ARGS__)
#define NAND(...) FOUND(__scoped_atomic_fetch_nand, __VA_ARGS__)
#define MINIMUM(...) FOUND(__scoped_atomic_fetch_min, __VA_ARGS__)
#define MAXIMUM(...) FOUND(__scoped_atomic_fetch_max, __VA_ARGS__)
#define EXCHANGE(...) FOUND(__scoped_atomic_exchange_n, __VA_ARGS__)
#define COMPARE(p, v, order, scope) \
  do { \
    T wanted = (T)(v), new = (T)(wanted * 3 + 1); \
    hash = hash * 31 + __scoped_atomic_compare_exchange_n(p, &wanted, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE, scope); \
    hash = hash * 31 + (u64)wanted; \
    hash = hash * 31 + __scoped_atomic_compare_exchange_n(p, &wanted, (T)(wanted + 5), 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
  } while (0)

/// All operations on an element that no other item uses.
#define OPERATIONS(name, type, space) \
  NOINLINE static u64 name(space type *p, u64 seed) { \
    typedef type T; \
    u64 hash = 7; \
    __scoped_atomic_store_n(p, (T)seed, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE); \
    ORDERS(ADD, p, (T)(seed * 77 + 1)); ORDERS(EXCHANGE, p, (T)(seed - 9)); ORDERS(SUBTRACT, p, (T)(seed / 3)); \
    ORDERS(OR, p, (T)(seed << 3)); ORDERS(XOR, p, (T)(seed * 3)); ORDERS(AND, p, (T)~seed); ORDERS(NAND, p, (T)(seed * 5)); \
    ORDERS(MINIMUM, p, (T)(7 - seed)); ORDERS(MAXIMUM, p, (T)(seed - 20)); ORDERS(COMPARE, p, (T)(seed - 20)); \
    return hash * 31 + (u64)__scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_SYSTEM); \
  }
#define FLOATS(name, type, space) \
  NOINLINE static u64 name(space type *p, u64 seed) { \
    u64 hash = 7; \
    type start = (type)(long)(seed & 0xfffff); \
    *(volatile space type *)p = start; \
    ORDERS(ADD, p, (type)(seed & 255) * (type)0.5); ORDERS(SUBTRACT, p, (type)(seed & 255) * (type)0.25); \
    ORDERS(MINIMUM, p, (type)(seed >> 44)); ORDERS(MAXIMUM, p, (type)(seed & 0xffff)); \
    return hash * 31 + (u64)(*(volatile space type *)p * 4); \
  }

#define GENERIC const __attribute__((address_space(0))) void *
#ifndef __AMDGCN__
#define LOCAL
#define GLOBAL
#define ITEM (run->item % GROUP)
#endif

OPERATIONS(on_u8, u8, )
OPERATIONS(on_s16, short, )
OPERATIONS(on_u32, u32, )
OPERATIONS(on_s32, int, GLOBAL)
OPERATIONS(on_u64, u64, GLOBAL)
OPERATIONS(on_s64, long, )
OPERATIONS(local_u8, u8, LOCAL)
OPERATIONS(local_u32, u32, LOCAL)
OPERATIONS(local_s64, long, LOCAL)
FLOATS(on_f32, float, )
FLOATS(on_f64, double, GLOBAL)
FLOATS(local_f32, float, LOCAL)
FLOATS(local_f64, double, LOCAL)

#ifdef __AMDGCN__
static LOCAL __attribute__((loader_uninitialized)) u32 words[GROUP];
static LOCAL __attribute__((loader_uninitialized)) u64 wides[GROUP];
static LOCAL __attribute__((loader_uninitialized)) u32 turn;
static LOCAL __attribute__((loader_uninitialized)) u32 sum;
typedef const __attribute__((address_space(4))) u16 constant_half;
typedef const __attribute__((address_space(4))) u32 constant_word;
#else
static u32 words[GROUP];
static u64 wides[GROUP];
#endif

NOINLINE static void alone(struct run *run, u64 s) {
  u64 *own = run->out + 400;
  OUT(on_u8((u8 *)own + 3, s)); OUT(on_s16((short *)own + 1, s)); OUT(on_u32((u32 *)own + 3, s));
  OUT(on_s32((GLOBAL int *)(own + 2), s)); OUT(on_u64((GLOBAL u64 *)(own + 3), s)); OUT(on_s64((long *)own + 4, s));
  OUT(on_f32((float *)own + 10, s)); OUT(on_f64((GLOBAL double *)(own + 6), s));
  // Private memory through generic addresses.
  u64 private[4] = {s, 1, 2, 3};
  OUT(on_u32((u32 *)private + 1, s)); OUT(on_s64((long *)private + 2, s)); OUT(on_u8((u8 *)private + 30, s));
  OUT(private[0] ^ private[1] ^ private[2] ^ private[3]);
  u32 t = ITEM;
  words[t] = 0; wides[t] = 0;
  OUT(local_u8((LOCAL u8 *)&words[t] + 2, s)); OUT(local_u32(&words[t], s)); OUT(local_s64((LOCAL long *)&wides[t], s));
  OUT(local_f32((LOCAL float *)&words[t], s)); OUT(local_f64((LOCAL double *)&wides[t], s));
  OUT(on_u32((u32 *)&words[t], s)); OUT(on_s64((long *)&wides[t], s)); OUT(on_u8((u8 *)&wides[t] + 5, s));
}

NOINLINE static void together(struct run *run, u64 s) {
  u32 t = ITEM;
#ifdef __AMDGCN__
  __builtin_amdgcn_s_barrier();
  words[t] = t * 3 + 1;
  if (t == 0) { turn = 0; sum = 0; }
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  u32 total = 0;
  for (u32 i = 0; i < GROUP; i++) total += words[i];
  OK(total == GROUP * (GROUP - 1) / 2 * 3 + GROUP);
  for (u32 step = 1; step < GROUP; step *= 2) {
    u32 found = t >= step ? words[t - step] : 0;
    __builtin_amdgcn_s_barrier();
    words[t] += found;
    __builtin_amdgcn_s_barrier();
  }
  OK(words[t] == t * (t + 1) / 2 * 3 + t + 1);
  __scoped_atomic_fetch_add(&sum, t, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
  // The waves have their turns: one waits for the other.
  for (u32 i = 0; i < 6; i++) {
    if (t / 64 == (i & 1)) {
      while (__scoped_atomic_load_n(&turn, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) != i) __builtin_amdgcn_s_sleep(1);
      if (t % 64 == 0) __scoped_atomic_store_n(&turn, i + 1, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
    }
  }
  __builtin_amdgcn_s_barrier();
  OK(turn == 6);
  OK(sum == GROUP * (GROUP - 1) / 2);
  // A lock that the lanes of a wave take one after another.
  __builtin_amdgcn_s_barrier();
  if (t == 0) { turn = 0; sum = 0; }
  __builtin_amdgcn_s_barrier();
  for (u32 i = 0; i < 64; i++) {
    if (t % 64 != i) continue;
    u32 wanted = 0;
    while (!__scoped_atomic_compare_exchange_n(&turn, &wanted, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)) wanted = 0;
    sum = sum + 1;
    __scoped_atomic_store_n(&turn, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
  }
  __builtin_amdgcn_s_barrier();
  OK(sum == GROUP);
#else
  for (int i = 0; i < 5; i++) OK(1);
#endif
}

NOINLINE static void lanes(struct run *run, u64 s) {
#ifdef __AMDGCN__
  u32 t = ITEM, lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)), count = t < 64 ? 64 : 16;
  u64 all = count == 64 ? ~0ul : 0xffff;
#endif
  OK(lane == (t & 63));
  OK(__builtin_amdgcn_read_exec() == all);
  OK(__builtin_amdgcn_uicmp(lane, 7u, 36) == (all & 0x7f));
  OK(__builtin_amdgcn_uicmp(lane & 1, 0u, 33) == (all & 0xaaaaaaaaaaaaaaaaul));
  OK(__builtin_amdgcn_readfirstlane(t) == (t & ~63u));
  OK(__builtin_amdgcn_readlane(t, 5) == (t & ~63u) + 5);
  OK(__builtin_amdgcn_ds_bpermute((int)(lane ^ 3) * 4, (int)t) == (int)(t ^ 3));
  OK(__builtin_amdgcn_ds_permute((int)((lane + 1) % count) * 4, (int)t) == (int)((t & ~63) + (lane + count - 1) % count));
  OK(__builtin_amdgcn_ds_swizzle((int)t, 0x041f) == (int)(t ^ 1));
  OK(__builtin_amdgcn_ds_swizzle((int)t, 0x001e) == (int)(t & ~1));
  OK(__builtin_amdgcn_ds_swizzle((int)t, 0x8000 | 3 | 2 << 2 | 1 << 4) == (int)(t ^ 3));
  OK(__builtin_amdgcn_ds_swizzle((int)t, 0xc000 | 1 << 5) == (int)((t & ~31) | ((lane + 1) & 31)) || count == 16);
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0xb1, 15, 15, 0) == (int)(t ^ 1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x101, 15, 15, 0) == ((lane & 15) == 15 ? -1 : (int)t + 1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x111, 15, 15, 1) == ((lane & 15) == 0 ? 0 : (int)t - 1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x121, 15, 15, 0) == (int)((t & ~15) | ((lane + 15) & 15)));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x140, 15, 15, 0) == (int)(t ^ 15));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x141, 15, 15, 0) == (int)(t ^ 7));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x138, 15, 15, 0) == (lane == 0 ? -1 : (int)t - 1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x142, 10, 15, 0) == ((lane & 16) ? (int)(t & ~15) - 1 : -1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0x143, 12, 15, 0) == ((lane & 32) ? (int)(t & ~63) + 31 : -1));
  OK(__builtin_amdgcn_update_dpp(-1, (int)t, 0xe4, 15, 5, 0) == ((lane & 4) ? -1 : (int)t));
#ifdef __AMDGCN__
  // Lanes that have parted see only their like.
  if (lane & 1) {
    OK(__builtin_amdgcn_read_exec() == (all & 0xaaaaaaaaaaaaaaaaul));
    OK(__builtin_amdgcn_readfirstlane(t) == (t & ~63u) + 1);
    OK(__builtin_amdgcn_ds_bpermute((int)(lane ^ 1) * 4, (int)t) == 0);
  } else {
    OK(__builtin_amdgcn_read_exec() == (all & 0x5555555555555555ul));
    OK(__builtin_amdgcn_readfirstlane(t) == (t & ~63u));
    OK(__builtin_amdgcn_update_dpp(7, (int)t, 0xb1, 15, 15, 0) == 7);
  }
  // A reduction over the wave, step by step.
  int reduced = (int)lane;
  for (u32 step = 1; step < 64; step *= 2) {
    int other = __builtin_amdgcn_ds_bpermute((int)(lane ^ step) * 4, reduced);
    reduced += (lane ^ step) < count ? other : 0;
  }
  OK(count != 64 || reduced == 64 * 63 / 2);
#else
  for (int i = 0; i < 4; i++) OK(1);
#endif
}

NOINLINE static void places(struct run *run, u64 s) {
  u32 t = ITEM;
#ifdef __AMDGCN__
  u32 here = t;
  u32 *private = &here, *shared = (u32 *)&words[t];
  words[t] = t + 9;
  __asm__ volatile("" : "+v"(private), "+v"(shared));
  constant_half *halves = (constant_half *)__builtin_amdgcn_dispatch_ptr();
  constant_word *dispatch = (constant_word *)__builtin_amdgcn_dispatch_ptr();
#endif
  OK(__builtin_amdgcn_is_private((GENERIC)private) && !__builtin_amdgcn_is_shared((GENERIC)private));
  OK(__builtin_amdgcn_is_shared((GENERIC)shared) && !__builtin_amdgcn_is_private((GENERIC)shared));
  OK(*private == t && *shared == t + 9);
  OK(!__builtin_amdgcn_is_shared((GENERIC)run->out) && !__builtin_amdgcn_is_private((GENERIC)run->out));
  OK(halves[2] == GROUP && dispatch[3] == ITEMS && dispatch[4] == 1);
  OK(__builtin_amdgcn_workgroup_size_x() == GROUP && __builtin_amdgcn_grid_size_x() == ITEMS);
  OK(__builtin_amdgcn_workgroup_id_x() == run->item / GROUP && __builtin_amdgcn_workgroup_id_y() == 0);
#ifdef __AMDGCN__
  u64 before = __builtin_amdgcn_s_memtime(), real = __builtin_amdgcn_s_memrealtime();
  OK(__builtin_amdgcn_s_memtime() > before); OK(__builtin_amdgcn_s_memrealtime() >= real);
#else
  OK(1); OK(1);
#endif
}

static void compute(struct run *run) {
  u64 s = IN(5);
  alone(run, s);
  together(run, s);
  lanes(run, s);
  places(run, s);
}
