// Atomic operations through addresses that lead to a lane's own memory in some lanes, and to memory of all in others.
#include "run.h"

#ifdef __AMDGCN__
#define UP(p, most) __builtin_amdgcn_atomic_inc32(p, most, __ATOMIC_RELAXED, "agent")
#define DOWN(p, most) __builtin_amdgcn_atomic_dec32(p, most, __ATOMIC_RELAXED, "agent")
#else
static u32 up(u32 *p, u32 most) { u32 old = *p; *p = old >= most ? 0 : old + 1; return old; }
static u32 down(u32 *p, u32 most) { u32 old = *p; *p = old == 0 || old > most ? most : old - 1; return old; }
#define UP(p, most) up(p, most)
#define DOWN(p, most) down(p, most)
#endif

static void compute(struct run *run) {
  u32 own[8];
  for (u32 n = 0; n < 8; n++) own[n] = (u32)IN(n);
  u32 *all = (u32 *)(run->out + 400);
  *all = (u32)IN(9);
  for (u32 n = 0; n < 24; n++) {
    u64 bits = IN(10 + n);
    u32 a = (u32)(bits >> 8), expected = own[bits & 7];
    u32 *p = HIDE(bits & 0x18 ? &own[bits & 7] : all);
    OUT(__atomic_fetch_add(p, a, __ATOMIC_RELAXED)); OUT(__atomic_fetch_sub(p, a >> 3, __ATOMIC_RELAXED));
    OUT(__atomic_fetch_and(p, ~a, __ATOMIC_RELAXED)); OUT(__atomic_fetch_or(p, a & 0xf0f0, __ATOMIC_RELAXED));
    OUT(__atomic_fetch_xor(p, a, __ATOMIC_RELAXED)); OUT(__atomic_fetch_min(p, a, __ATOMIC_RELAXED));
    OUT(__atomic_fetch_max(p, a >> 1, __ATOMIC_RELAXED)); OUT(__atomic_fetch_min((int *)p, (int)a, __ATOMIC_RELAXED));
    OUT(__atomic_fetch_max((int *)p, (int)(a >> 2), __ATOMIC_RELAXED)); OUT(UP(p, a >> 1)); OUT(DOWN(p, a << 1));
    OUT(__atomic_compare_exchange_n(p, &expected, a, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); OUT(expected);
    OUT(__atomic_exchange_n(p, a, __ATOMIC_RELAXED));
    OUT(__atomic_compare_exchange_n(p, &a, a + 5, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); OUT(*p);
  }
  for (u32 n = 0; n < 8; n++) OUT(own[n]);
}
