// Floating-point numbers, which are small enough that all results are numbers.
#include "run.h"

static void compute(struct run *run) {
  for (u32 n = 0; n < 16; n++) {
    float a = (float)(int)((IN(2 * n) & 0xffff) - 0x8000) * 0.125f, b = (float)(IN(2 * n + 1) & 0xfff) + 0.5f;
    double c = (double)(long)(IN(2 * n) & 0xffffff) * 0.25, d = (double)(int)(IN(2 * n + 1) & 0xfff) + 0.5;
    OUT(BITS32(a + b)); OUT(BITS32(a - b)); OUT(BITS32(a * b)); OUT(BITS32(__builtin_fmaf(a, b, -a))); OUT(BITS32(-a));
    OUT(BITS32(__builtin_fabsf(a))); OUT(a < b); OUT(a >= b); OUT(a != b); OUT((u32)(int)a); OUT((u32)b); OUT(BITS64((double)a));
    OUT(BITS32(__builtin_floorf(a))); OUT(BITS32(__builtin_truncf(a))); OUT(BITS32(__builtin_rintf(a)));
    OUT(BITS64(c + d)); OUT(BITS64(c - d)); OUT(BITS64(c * d)); OUT(BITS64(__builtin_fma(c, d, a))); OUT(c > d); OUT(BITS32((float)c));
    OUT((u32)(int)c); OUT(BITS64(__builtin_floor(c))); OUT(BITS32(a > b ? a : b)); OUT(BITS64(c / d)); OUT(BITS32(a / b));
  }
}
