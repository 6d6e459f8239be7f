// Integers of 32 and 64 bits, and bits of them.
#include "run.h"

static void compute(struct run *run) {
  for (u32 n = 0; n < 12; n++) {
    u64 a = IN(2 * n), b = IN(2 * n + 1);
    u32 c = (u32)a, d = (u32)b;
    OUT(a + b); OUT(a - b); OUT(a * b); OUT(a ^ b >> 7); OUT(a << (b & 63)); OUT((long)a >> (b & 63)); OUT(a >> (b & 63));
    OUT(c + d); OUT(c * d); OUT((int)c >> (d & 31)); OUT(c << (d & 31)); OUT((u64)c * d >> 32); OUT((u64)((long)(int)c * (int)d));
    OUT(c < d); OUT((int)c < (int)d); OUT(a < b); OUT((long)a <= (long)b); OUT(c == d);
    OUT(__builtin_popcount(c)); OUT(__builtin_popcountll(a)); OUT(c ? __builtin_clz(c) : 32); OUT(d ? __builtin_ctz(d) : 32);
    OUT(c > d ? c : d); OUT((int)c > (int)d ? c : d); OUT((c >> 5) & 1023); OUT((u32)((int)(c << 7) >> 20)); OUT(c & ~d);
    OUT(__builtin_elementwise_add_sat(c, d)); OUT(__builtin_elementwise_sub_sat(c, d));
    OUT(__builtin_elementwise_add_sat((int)c, (int)d)); OUT(__builtin_elementwise_sub_sat((int)c, (int)d));
    OUT(__builtin_bitreverse32(c)); OUT(c >> 9 | d << 23); OUT((u8)c + (u16)d); OUT((int)(signed char)c * (short)d);
  }
}
