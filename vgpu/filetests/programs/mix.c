// The same computation for the host and for a lane of the device: what the compiler
// makes of it must not depend on where it runs.
typedef unsigned long u64;
typedef unsigned int u32;

struct record {
  int key;
  double weight;
  char tag[5];
};

#define NEXT(s) ((s) = (s) * 6364136223846793005ul + 1442695040888963407ul, (s) >> 29)

__attribute__((noinline)) static u32 ackermann(u32 m, u32 n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) static struct record change(struct record r, int by) {
  r.key = r.key * 31 + by;
  r.weight = r.weight * 1.25 - by;
  r.tag[by & 3] ^= (char)by;
  return r;
}

__attribute__((noinline)) static int twice(int x) { return x * 2; }
__attribute__((noinline)) static int minus(int x) { return 7 - x; }

__attribute__((noinline)) u64 compute(u32 seed) {
  u64 s = seed * 77773 + 5, hash = 14695981039346656037ul;
#define MIX(v) (hash = (hash ^ (u64)(v)) * 1099511628211ul)
  int values[16];
  for (int i = 0; i < 16; i++) values[i] = (int)NEXT(s) % 1000;
  for (int i = 1; i < 16; i++)
    for (int j = i; j > 0 && values[j - 1] > values[j]; j--) {
      int t = values[j];
      values[j] = values[j - 1];
      values[j - 1] = t;
    }
  for (int i = 0; i < 16; i++) MIX(values[i]);
  struct record r = {(int)seed, seed * 0.5, "abcd"};
  for (int i = 0; i < 5; i++) r = change(r, (int)(NEXT(s) & 15));
  MIX(r.key);
  MIX((long)(r.weight * 1000));
  for (int i = 0; i < 5; i++) MIX(r.tag[i]);
  MIX(ackermann(2, seed % 5));
  int (*functions[2])(int) = {twice, minus};
  MIX(functions[NEXT(s) & 1]((int)seed));
  u64 a = NEXT(s), b = NEXT(s) | 1;
  MIX(a / b);
  MIX(a % b);
  MIX((long)(a - b) / 13);
  MIX((u64)(((unsigned __int128)a * (b << 30)) >> 50));
  MIX(__builtin_popcountl(a) + __builtin_clzl(b) * 64 + __builtin_ctzl(b << (seed & 31)));
  MIX(__builtin_bswap32((u32)a));
  MIX(__builtin_bitreverse64(a));
  MIX(a << (b & 63) | a >> (-b & 63));
  MIX((signed char)a * (short)b + (unsigned char)(a >> 8));
  switch (a % 9) {
  case 0: MIX(11); break;
  case 1: MIX(b * 3); // and on
  case 2: MIX(22); break;
  case 3: MIX(a ^ b); break;
  case 4: MIX(33); break;
  case 5: MIX(a & b); break;
  case 7: MIX(a | b); break;
  default: MIX(99);
  }
  float f = (float)(long)a * 1e-6f, g = (float)(u32)b + 0.25f;
  double d = (double)a / 3.0, e = __builtin_sqrt((double)b);
  u32 bits;
  u64 wide;
#define FLOAT(x) (__extension__({ float v = (x); __builtin_memcpy(&bits, &v, 4); MIX(bits); }))
#define DOUBLE(x) (__extension__({ double v = (x); __builtin_memcpy(&wide, &v, 8); MIX(wide); }))
  FLOAT(f / g);
  FLOAT(f * g - 3.5f);
  FLOAT(__builtin_sqrtf(g));
  FLOAT(__builtin_floorf(f) + __builtin_truncf(-g));
  FLOAT((float)d);
  FLOAT(__builtin_copysignf(f, -g) + __builtin_fabsf(-f));
  DOUBLE(d * e + 1e-3);
  DOUBLE(__builtin_ceil(d) - __builtin_floor(e));
  DOUBLE((double)f + (double)(int)values[3]);
  MIX(f < g);
  MIX((long)d);
  MIX((int)(g / 1000.0f));
  MIX(d != e && f >= 1.0f);
  _Float16 h = (_Float16)(values[2] * 0.125f);
  FLOAT((float)(h * (_Float16)1.5f));
  u32 rotated = 0;
  for (u32 i = seed % 7; i < 40; i += 3) {
    if (i & 1)
      rotated += i * (u32)a;
    else if (i % 5 == 2)
      continue;
    else
      rotated = rotated << 5 | rotated >> 27;
    if (rotated % 97 == 13) break;
  }
  MIX(rotated);
  return hash;
}

#ifdef __NVPTX__
__attribute__((nvptx_kernel)) void k(u64 *out) {
  u32 i = __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
  out[i] = compute(i);
}
#else
int printf(const char *, ...);
int main(void) {
  for (u32 i = 0; i < 96; i++) printf("%lx\n", compute(i));
}
#endif
