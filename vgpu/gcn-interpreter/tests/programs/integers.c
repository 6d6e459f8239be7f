// Integers of all widths.
#include "run.h"

#define EACH(type) \
  do { \
    type a = (type)x, b = (type)y, c = (type)z, d; \
    int shift = (int)(z & (sizeof(type) * 8 - 1)); \
    OUT(a + b); OUT(a - b); OUT(a * b); OUT(a * b + c); \
    OUT(b ? a / b : 0); OUT(b ? a % b : 0); OUT(a / 7); OUT(a % 10); \
    OUT((type)(a << shift)); OUT(a >> shift); OUT((type)(a << shift | b >> ((sizeof(type) * 8 - shift) & (sizeof(type) * 8 - 1)))); \
    OUT(a & b | ~c); OUT(a ^ b); OUT(a < b); OUT(a <= b); OUT(a == b); OUT(a > b ? a : c); OUT(a < b ? a : b); \
    OUT(__builtin_add_overflow(a, b, &d)); OUT(d); OUT(__builtin_sub_overflow(a, b, &d)); OUT(d); \
    OUT(__builtin_mul_overflow(a, b, &d)); OUT(d); \
    OUT((type)-a); OUT((a ^ b) & (b ^ c)); OUT(a & ((type)1 << shift)); \
    OUT((type)((a & c) | (b & ~c))); OUT(a < 0 ? (type)-a : a); \
  } while (0)

#define SIGNED_DIVISION_IS_DEFINED(type) ((type)y != (type)-1)

struct fields {
  int a : 5;
  u32 b : 11;
  int c : 16;
  u64 d : 43;
  long e : 21;
};

NOINLINE static void widths(struct run *run, u64 x, u64 y, u64 z) {
  EACH(u8); EACH(u16); EACH(u32); EACH(u64);
  if ((int)y == -1) y = 5;
  if ((long)y == -1) y = 5;
  if ((signed char)y == -1 || (short)y == -1) y = 77;
  EACH(signed char); EACH(short); EACH(int); EACH(long);
}

NOINLINE static void counts(struct run *run, u64 x, u64 y, u64 z) {
  u32 w = (u32)x;
  OUT(__builtin_popcount(w)); OUT(__builtin_popcountl(x));
  OUT(w ? __builtin_clz(w) : 99); OUT(x ? __builtin_clzl(x) : 99);
  OUT(w ? __builtin_ctz(w) : 99); OUT(x ? __builtin_ctzl(x) : 99);
  OUT(__builtin_clrsb((int)w)); OUT(__builtin_ffs((int)w)); OUT(__builtin_ffsl((long)x));
  OUT(__builtin_bswap16((u16)x)); OUT(__builtin_bswap32(w)); OUT(__builtin_bswap64(x));
  OUT(__builtin_bitreverse8((u8)x)); OUT(__builtin_bitreverse16((u16)x));
  OUT(__builtin_bitreverse32(w)); OUT(__builtin_bitreverse64(x));
  OUT(__builtin_parity(w)); OUT(__builtin_parityl(x));
  OUT(__builtin_rotateleft32(w, (u32)y)); OUT(__builtin_rotateright64(x, y));
  OUT(((u64)w * (u32)y) >> 32); OUT((u64)(((long)(int)w * (int)y) >> 32));
  OUT((w >> 5) & 0x7f); OUT((int)(w << 7) >> 21); OUT((w & 0xff00) >> 8);
  OUT((w & 0xffffff) * ((u32)y & 0xffffff)); OUT((((int)w << 8) >> 8) * (((int)y << 8) >> 8) + (int)z);
}

NOINLINE static void wide(struct run *run, u64 x, u64 y, u64 z) {
  typedef unsigned __int128 u128;
  typedef __int128 s128;
#define OUT128(v) (__extension__({ u128 value = (u128)(v); OUT(value); OUT(value >> 64); }))
  u128 a = (u128)x << 64 | y, b = (u128)(z >> (y & 63)) << 64 | (x ^ z);
  int shift = (int)(y & 127);
  OUT128(a + b); OUT128(a - b); OUT128(a * b); OUT128(a << shift); OUT128(a >> shift); OUT128((s128)a >> shift);
  OUT128(a & b); OUT128(-a); OUT(a < b); OUT((s128)a < (s128)b); OUT(a == b);
  OUT128((u128)x * y); OUT128((s128)(long)x * (long)y);
  if (b) { OUT128(a / b); OUT128(a % b); OUT128((s128)a / (s128)(b | 3)); }
}

NOINLINE static void bits(struct run *run, u64 x, u64 y) {
  struct fields f = {0};
  f.a = (int)x; f.b = (u32)y; f.c = (int)(x >> 7); f.d = x * y; f.e = (long)(y >> 3);
  f.b += 3; f.a ^= f.c; f.d -= f.b; f.e *= 5;
  OUT(f.a); OUT(f.b); OUT(f.c); OUT(f.d); OUT(f.e);
}

static void compute(struct run *run) {
  u64 x = IN(0), y = IN(1), z = IN(2);
  widths(run, x, y, z);
  counts(run, x, y, z);
  wide(run, x, y, z);
  bits(run, x, y);
}
