// Integer and floating-point arithmetic of all widths, vectors, divisions and conversions.
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
#define LANE __builtin_amdgcn_workitem_id_x()

#define INTEGERS(T, name)                                                                                              \
  KERNEL void name(GLOBAL T *a, GLOBAL const T *b, GLOBAL const T *c, T uniform) {                                     \
    unsigned i = LANE;                                                                                                 \
    T x = b[i], y = c[i];                                                                                              \
    a[i] = x + y * uniform;                                                                                            \
    a[i + 64] = (x - y) ^ (x & ~y) | (x << (y & 7)) | (uniform >> (x & 7));                                            \
    a[i + 128] = x / (y | 1) + x % (uniform | 1);                                                                      \
    a[i + 192] = x < y ? x : y > uniform ? y : -x;                                                                     \
    for (T n = 0; n < uniform; ++n)                                                                                    \
      if (x == n)                                                                                                      \
        a[i] += y;                                                                                                     \
  }
INTEGERS(signed char, bytes)
INTEGERS(unsigned char, ubytes)
INTEGERS(short, shorts)
INTEGERS(unsigned short, ushorts)
INTEGERS(int, ints)
INTEGERS(unsigned, uints)
INTEGERS(long, longs)
INTEGERS(unsigned long, ulongs)
INTEGERS(__int128, hugs)

#define FLOATS(T, name, sqrt, fabs, floor, rint, fma, min, max)                                                        \
  KERNEL void name(GLOBAL T *a, GLOBAL const T *b, GLOBAL const T *c, T uniform, int n) {                              \
    unsigned i = LANE;                                                                                                 \
    T x = b[i], y = c[i];                                                                                              \
    a[i] = x * y + uniform;                                                                                            \
    a[i + 64] = x / y - (T)3.25 * uniform;                                                                             \
    a[i + 128] = fma(-x, y, fabs(uniform)) + min(x, (T)1.0) - max(y, (T)0.15);                                          \
    a[i + 192] = floor(x) + rint(y) + sqrt(fabs(x));                                                                   \
    a[i + 256] = (T)(int)x + (T)(unsigned)y + (T)(long)x + (T)(unsigned long)y + (T)n;                                 \
    a[i + 320] = x < y ? -x : x == y ? uniform : x != x ? (T)0 : y;                                                    \
  }
FLOATS(float, floats, __builtin_sqrtf, __builtin_fabsf, __builtin_floorf, __builtin_rintf, __builtin_fmaf,
       __builtin_fminf, __builtin_fmaxf)
FLOATS(double, doubles, __builtin_sqrt, __builtin_fabs, __builtin_floor, __builtin_rint, __builtin_fma, __builtin_fmin,
       __builtin_fmax)
FLOATS(_Float16, halves, __builtin_sqrtf16, __builtin_fabsf16, __builtin_floorf16, __builtin_rintf16, __builtin_fmaf16,
       __builtin_fminf16, __builtin_fmaxf16)

typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef double double2 __attribute__((ext_vector_type(2)));
#define VECTORS(T, name)                                                                                               \
  KERNEL void name(GLOBAL T *a, GLOBAL const T *b, T uniform) {                                                        \
    T x = b[LANE], y = b[LANE + 64];                                                                                   \
    a[LANE] = x * y + uniform;                                                                                         \
    a[LANE + 64] = x.yx - y.xy;                                                                                        \
    a[LANE + 128] = -x * uniform.yx;                                                                                   \
  }
VECTORS(half2, halves2)
VECTORS(short2, shorts2)
VECTORS(float2, floats2)
VECTORS(double2, doubles2)
KERNEL void floats4(GLOBAL float4 *a, GLOBAL const float4 *b) { a[LANE] = b[LANE] * b[LANE + 64] + b[3]; }

KERNEL void bits(GLOBAL unsigned *a, GLOBAL const unsigned *b, unsigned uniform) {
  unsigned i = LANE, x = b[i];
  a[i] = __builtin_popcount(x) + __builtin_clz(x | 1) + __builtin_ctz(x | 1) + __builtin_bitreverse32(x);
  a[i + 64] = __builtin_popcount(uniform) + __builtin_clz(uniform | 1) + __builtin_ctz(uniform | 1);
  a[i + 128] = __builtin_rotateleft32(x, 7) + __builtin_bswap32(x) + (x >> 3 & 0x7f) + __builtin_bitreverse32(uniform);
  a[i + 192] = __builtin_amdgcn_perm(x, uniform, 0x05010400) + __builtin_amdgcn_alignbyte(x, uniform, 2) +
               __builtin_amdgcn_ubfe(x, 3, 9) + __builtin_amdgcn_sbfe(x, uniform, 5) + __builtin_amdgcn_sad_u8(x, 1, 2);
}

KERNEL void functions(GLOBAL float *a, GLOBAL double *d) {
  unsigned i = LANE;
  float x = a[i];
  a[i] = __builtin_amdgcn_rcpf(x) + __builtin_amdgcn_rsqf(x) + __builtin_amdgcn_sinf(x) + __builtin_amdgcn_cosf(x);
  a[i + 64] = __builtin_amdgcn_fractf(x) + __builtin_amdgcn_exp2f(x) + __builtin_amdgcn_logf(x);
  a[i + 128] = __builtin_amdgcn_fmed3f(x, 1.0f, 4.0f) + __builtin_amdgcn_ldexpf(x, 3) + __builtin_amdgcn_frexp_mantf(x);
  a[i + 192] = __builtin_amdgcn_classf(x, 3) ? 1.0f : __builtin_amdgcn_cvt_pkrtz(x, x)[0];
  d[i] = __builtin_amdgcn_rcp(d[i]) + __builtin_amdgcn_trig_preop(d[i], 2) + __builtin_amdgcn_frexp_mant(d[i]);
}

__attribute__((noinline)) int called(int n, GLOBAL int *a) { return n < 2 ? n : a[n] + called(n - 1, a); }
typedef int (*pointer)(int, GLOBAL int *);
KERNEL void calls(GLOBAL int *a, pointer through) { a[LANE] = called(a[0], a) + through(a[1], a); }

KERNEL void chosen(GLOBAL int *a, int n) {
  switch (n) {
  case 0: a[LANE] = 5; break;
  case 1: a[LANE] ^= 77777; break;
  case 2: a[LANE] *= 3; break;
  case 3: a[LANE] = -a[LANE]; break;
  case 7: __builtin_trap();
  default: a[LANE] = n;
  }
}
