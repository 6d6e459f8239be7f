// Classes of numbers: zeros, denormals, infinities and NaNs of both kinds and signs, one by one and together.
#include "run.h"

static float f32(u32 bits) { return __builtin_bit_cast(float, bits); }
static double f64(u64 bits) { return __builtin_bit_cast(double, bits); }

static void classes(struct run *run, float a, double b) {
#define CLASS(mask) OUT(__builtin_isfpclass(a, mask) | __builtin_isfpclass(b, mask) << 1)
  CLASS(0x001); CLASS(0x002); CLASS(0x004); CLASS(0x008); CLASS(0x010); CLASS(0x020); CLASS(0x040); CLASS(0x080);
  CLASS(0x100); CLASS(0x200); CLASS(0x003); CLASS(0x204); CLASS(0x090); CLASS(0x060); CLASS(0x1f8); CLASS(0x0fc);
  CLASS(0x155); CLASS(0x2aa); CLASS(0x3fd);
}

static void compute(struct run *run) {
  static const u32 special[] = {0, 1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff};
  for (u32 n = 0; n < 16; n++) {
    u32 bits = n < 10 ? special[n] : (u32)IN(n);
    bits ^= (u32)IN(n) & 1u << 31;
    u64 exponent = bits >> 23 & 0xff;
    exponent = exponent == 0xff ? 0x7ff : exponent ? exponent + 896 : 0;
    u64 wide = (u64)(bits >> 31) << 63 | exponent << 52 | (u64)(bits & 0x7fffff) << 29;
    classes(run, f32(bits), f64(wide));
  }
}
