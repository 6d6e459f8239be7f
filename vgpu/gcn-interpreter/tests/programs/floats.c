// Floating-point numbers.
#include "run.h"

#define ARITHMETIC(out, a, b, c) \
  OUT(out((a) + (b))); OUT(out((a) - (b))); OUT(out((a) * (b))); OUT(out((a) / (b))); \
  OUT(out((a) * (b) + (c))); OUT(out(-(a) * (b) - (c))); OUT(out((a) / 3)); OUT(out(1 / (b)))
#define COMPARISONS(a, b) \
  OUT((a) < (b)); OUT((a) <= (b)); OUT((a) == (b)); OUT((a) != (b)); OUT((a) > (b)); OUT((a) >= (b)); \
  OUT(__builtin_isunordered(a, b)); OUT(__builtin_isless(a, b)); OUT(__builtin_islessgreater(a, b)); \
  OUT(!((a) < (b))); OUT(!((a) >= (b)));
#define CLASSES(a) \
  OUT(__builtin_isnan(a)); OUT(__builtin_isinf(a)); OUT(__builtin_isfinite(a)); OUT(__builtin_isnormal(a)); \
  OUT(__builtin_signbit(a) != 0); OUT(__builtin_fpclassify(0, 1, 2, 3, 4, a));
// Conversions of numbers that are too large are undefined.
#define FITS(a, low, high) ((a) > (low) && (a) < (high))
#define INTEGERS(a) \
  OUT(FITS(a, -2147483648.0, 2147483647.0) ? (int)(a) : 0); OUT(FITS(a, -0.5, 4294967295.0) ? (u32)(a) : 0); \
  OUT(FITS(a, -9e18, 9e18) ? (long)(a) : 0); OUT(FITS(a, -0.5, 1.8e19) ? (u64)(a) : 0); \
  OUT(FITS(a, -32768.0, 32767.0) ? (short)(a) : 0); OUT(FITS(a, -0.5, 255.0) ? (u8)(a) : 0);

NOINLINE static void singles(struct run *run, u64 x, u64 y, u64 z) {
  float a = FLOAT(x), b = FLOAT(y), c = FLOAT(z);
  ARITHMETIC(BITS32, a, b, c);
  COMPARISONS(a, b);
  CLASSES(a);
  INTEGERS(a);
  OUT(BITS32(__builtin_fmaf(a, b, c)));
  OUT(BITS32(__builtin_sqrtf(a)));
  OUT(BITS32(__builtin_floorf(a))); OUT(BITS32(__builtin_ceilf(a))); OUT(BITS32(__builtin_truncf(a)));
  OUT(BITS32(__builtin_rintf(a))); OUT(BITS32(__builtin_roundf(a)));
  OUT(BITS32(__builtin_copysignf(a, b))); OUT(BITS32(__builtin_fabsf(a))); OUT(BITS32(-a));
  OUT(BITS32(a != a || b != b || a == b ? 0 : __builtin_fminf(a, b)));
  OUT(BITS32(a != a || b != b || a == b ? 0 : __builtin_fmaxf(a, b)));
  OUT(BITS32(a < b ? a : b)); OUT(BITS32(a > 0 ? b : c));
  OUT(BITS32(__builtin_ldexpf(a, (int)(y % 400) - 200)));
  int exponent = 0;
  float part = __builtin_frexpf(a, &exponent);
  OUT(BITS32(part)); OUT(a - a == 0 ? exponent : 0);
  OUT(BITS64((double)a)); OUT(BITS16((_Float16)a));
  OUT(BITS32((float)(int)x)); OUT(BITS32((float)(u32)x)); OUT(BITS32((float)(long)x)); OUT(BITS32((float)x));
  OUT(BITS32((float)(u8)x)); OUT(BITS32((float)(u8)(x >> 8))); OUT(BITS32((float)(short)x));
  OUT(BITS32((a + 1) * (b - 2) - c * 0.5f + a / b));
}

NOINLINE static void doubles(struct run *run, u64 x, u64 y, u64 z) {
  double a = DOUBLE(x), b = DOUBLE(y), c = DOUBLE(z);
  ARITHMETIC(BITS64, a, b, c);
  COMPARISONS(a, b);
  CLASSES(a);
  INTEGERS(a);
  OUT(BITS64(__builtin_fma(a, b, c)));
  OUT(BITS64(__builtin_sqrt(a)));
  OUT(BITS64(__builtin_floor(a))); OUT(BITS64(__builtin_ceil(a))); OUT(BITS64(__builtin_trunc(a)));
  OUT(BITS64(__builtin_rint(a))); OUT(BITS64(__builtin_round(a)));
  OUT(BITS64(__builtin_copysign(a, b))); OUT(BITS64(__builtin_fabs(a))); OUT(BITS64(-a));
  OUT(BITS64(a != a || b != b || a == b ? 0 : __builtin_fmin(a, b)));
  OUT(BITS64(a != a || b != b || a == b ? 0 : __builtin_fmax(a, b)));
  OUT(BITS64(a < b ? a : b));
  OUT(BITS64(__builtin_ldexp(a, (int)(y % 3000) - 1500)));
  int exponent = 0;
  double part = __builtin_frexp(a, &exponent);
  OUT(BITS64(part)); OUT(a - a == 0 ? exponent : 0);
  OUT(BITS32((float)a)); OUT(BITS16((_Float16)a));
  OUT(BITS64((double)(int)x)); OUT(BITS64((double)(u32)x)); OUT(BITS64((double)(long)x)); OUT(BITS64((double)x));
}

NOINLINE static void halves(struct run *run, u64 x, u64 y, u64 z) {
  _Float16 a = HALF(x), b = HALF(y), c = HALF(z);
  OUT(BITS16(a + b)); OUT(BITS16(a - b)); OUT(BITS16(a * b)); OUT(BITS16((_Float16)(a * b) + c));
  OUT(BITS16(a / b));
  COMPARISONS(a, b);
  OUT(BITS32((float)a)); OUT(BITS64((double)a)); OUT(BITS16(-a));
  OUT(FITS((float)a, -32768.0f, 32767.0f) ? (short)a : 0); OUT(FITS((float)a, -0.5f, 65504.0f) ? (u16)a : 0);
  OUT(BITS16((_Float16)(short)x)); OUT(BITS16((_Float16)(u8)x)); OUT(BITS16((_Float16)(int)(x % 100000)));
  OUT(BITS16(a < b ? a : c));
  OUT(BITS16(__builtin_fabsf16(a))); OUT(BITS16(__builtin_copysignf16(a, b)));
  typedef _Float16 pair __attribute__((ext_vector_type(2)));
  pair p = {a, b}, q = {c, a};
  pair sum = p + q, product = p * q, difference = p - q.yx;
  OUT(BITS16(sum.x)); OUT(BITS16(sum.y)); OUT(BITS16(product.x)); OUT(BITS16(product.y));
  OUT(BITS16(difference.x)); OUT(BITS16(difference.y));
}

static void compute(struct run *run) {
  u64 x = IN(0), y = IN(1), z = IN(2);
  singles(run, x, y, z);
  singles(run, x >> 32, y >> 32, z >> 32);
  singles(run, (x & 0x807fffff) | 0x3f800000, (y & 0x80ffffff) | 0x3f000000, z);
  doubles(run, x, y, z);
  doubles(run, (x & 0x800ffffffffffffful) | 0x3ff0000000000000ul, (y & 0x803ffffffffffffful) | 0x3fc0000000000000ul, z);
  halves(run, x, y, z);
  halves(run, x >> 16, y >> 32, z >> 48);
}
