// Rows and columns of one counter: quotients by constants, small products, counters of 64 bits, powers of two.
#include "run.h"

static void compute(struct run *run) {
  u64 n = run->item;
  for (u32 turn = 0; turn < 8; turn++, n += 64) {
    u32 i = (u32)n, word = (u32)IN(turn), factor = (u32)IN(turn + 8);
    OUT(i / 1022 * 1024 + i % 1022); OUT(word / 1022 * 1024 + word % 1022); OUT(word / 14 * 16 + word % 14);
    OUT((word >> 10) * (factor & 0xffff)); OUT((u32)((int)(word << 8) >> 8) * (u32)-1022);
    OUT((u32)((int)(word << 9) >> 9) * (u32)((int)(factor << 8) >> 8)); OUT((word >> 8) * (factor >> 8)); OUT((word >> 9) * 511u);
    OUT(n >> 4); OUT(n & 15); OUT(n + (IN(turn + 16) << 32));
    double large = (double)word * factor, small = large * 0x1p-960 * 0x1p-120;
    OUT(BITS64(large * 0.125)); OUT(BITS64(large * 16)); OUT(BITS64(small)); OUT(BITS64(small * 0x1p1000));
  }
}
