// What the first lane of a wave does alone, as nearly all of GCC's code, to memory that its address says: its own, the
// group's, or everybody's.
#include "run.h"

#ifdef __AMDGCN__
static LOCAL u64 of_group[4] __attribute__((loader_uninitialized));
#define OF_GROUP ((u64 *)&of_group[ITEM / 64 * 2])

// Compilers do not know that lanes are off: all of it is theirs.
static void alone(struct run *run, u64 *from, u64 *to) {
  u64 all, both;
  u32 word, half, byte;
  __asm__ volatile("s_mov_b64 %0, exec\n\t"
                   "s_mov_b64 exec, 1\n\t"
                   "flat_load_dword %2, %5\n\t"
                   "flat_load_sshort %3, %5 offset:4\n\t"
                   "flat_load_ubyte %4, %5 offset:7\n\t"
                   "flat_load_dwordx2 %1, %5\n\t"
                   "s_waitcnt vmcnt(0) lgkmcnt(0)\n\t"
                   "v_add_u32 %2, %2, %3\n\t"
                   "v_add_u32 %2, %2, %4\n\t"
                   "flat_store_dwordx2 %6, %1 offset:8\n\t"
                   "flat_store_dword %6, %2\n\t"
                   "flat_store_short %6, %3 offset:6\n\t"
                   "flat_store_byte %6, %4 offset:5\n\t"
                   "s_waitcnt vmcnt(0) lgkmcnt(0)\n\t"
                   "s_mov_b64 exec, %0"
                   : "=&s"(all), "=&v"(both), "=&v"(word), "=&v"(half), "=&v"(byte)
                   : "v"(from), "v"(to)
                   : "memory");
}
#else
static u64 of_group[2];
#define OF_GROUP of_group

static void alone(struct run *run, u64 *from, u64 *to) {
  if (run->item % GROUP % 64) return;
  short half = ((short *)from)[2];
  u8 byte = ((u8 *)from)[7];
  u64 both = *from;
  to[1] = both;
  ((u32 *)to)[0] = (u32)both + (u32)half + byte;
  ((short *)to)[3] = half;
  ((u8 *)to)[5] = byte;
}
#endif

static void compute(struct run *run) {
  u64 own[6];
  u64 *all = run->out + 400;
  for (u32 n = 0; n < 6; n++) own[n] = IN(n);
  for (u32 n = 0; n < 6; n++) all[n] = IN(n + 6);
  // Each lane has its own way; the first one's is gone.
  alone(run, IN(0) & 1 ? own : all, IN(1) & 1 ? own + 2 : all + 2);
  alone(run, IN(2) & 1 ? all + 1 : own + 1, OF_GROUP);
  alone(run, OF_GROUP, IN(3) & 1 ? own + 4 : all + 4);
  for (u32 n = 0; n < 6; n++) OUT(own[n]);
  for (u32 n = 0; n < 6; n++) OUT(all[n]);
}
