// Integer arithmetic of every width.
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned char u8;
typedef short s16;
#define KERNEL __attribute__((nvptx_kernel))
#define SHARED __attribute__((address_space(3)))
#define CONST __attribute__((address_space(4)))

KERNEL void ints(long*o, int a, int b, u64 c, u8 d, s16 e) {
  o[0] = a/b;
  o[1] = a%b;
  o[2] = c/b;
  o[3] = c%7;
  o[4] = __builtin_popcountl(c);
  o[5] = __builtin_clz(a);
  o[6] = __builtin_ctz(a);
  o[7] = __builtin_bitreverse32(a);
  o[8] = __builtin_bswap64(c);
  o[9] = (a<<7)|((u32)a>>25);
  o[10] = (a&b)|(~a&c);
  o[11] = d*e;
  o[12] = ((__int128)c*c)>>64;
  o[13] = a>b?a:b;
  o[14] = (a>>3)&255;
  o[15] = d>>2;
  __int128 q = (__int128)c*c+c;
  o[16] = q>>17;
  o[17] = __builtin_add_overflow(a, b, &a)?a:b;
  o[18] = __builtin_elementwise_add_sat(a, b);
  o[19] = __builtin_abs(a);
  o[20] = (long)a*b;
  o[21] = (c<<a)|(c>>(64-a));
  o[22] = e/d;
  o[23] = __builtin_rotateleft64(c, a);
}
