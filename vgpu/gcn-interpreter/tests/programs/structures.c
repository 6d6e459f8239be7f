// What compilers make of a language: stack, calls, recursion, pointers to functions, switches, loops
// that end at different turns, structures, vectors, copies of memory, generic pointers.
#include "run.h"

#define NEXT(s) ((s) = (s) * 6364136223846793005ul + 1442695040888963407ul, (s) >> 29)

struct record {
  int key;
  double weight;
  char tag[5];
  u16 halves[3];
};

NOINLINE static u32 ackermann(u32 m, u32 n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
NOINLINE static u64 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
NOINLINE static struct record change(struct record r, int by) {
  r.key = r.key * 31 + by;
  r.weight = r.weight * 1.25 - by;
  r.tag[by & 3] ^= (char)by;
  r.halves[by % 3u] += (u16)(by * 7);
  return r;
}
NOINLINE static u64 many(u64 a, u32 b, u16 c, u8 d, double e, float f, struct record r, u64 g, u64 h, u64 i, u64 j,
                         u64 k, u64 l, u64 m, u64 n, u64 o, u64 p, u64 q, u64 s, u64 t) {
  return a + b * 3 + c * 5 + d * 7 + (u64)(long)(e * 2) + (u64)(long)f + r.key + r.halves[1] + g * 11 + h * 13 + i * 17 + j * 19 +
         k * 23 + l * 29 + m * 31 + n * 37 + o * 41 + p * 43 + q * 47 + s * 53 + t * 59;
}
NOINLINE static int twice(int x) { return x * 2; }
NOINLINE static int minus(int x) { return 7 - x; }
NOINLINE static int deep(int x) { return x > 40 || x < 0 ? x : deep(x * 2 + 1) + 1; }
NOINLINE static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }

typedef int four __attribute__((ext_vector_type(4)));
typedef float pair __attribute__((ext_vector_type(2)));
typedef u8 eight __attribute__((ext_vector_type(8)));
typedef short shorts __attribute__((ext_vector_type(4)));

NOINLINE static void memory(struct run *run, u64 s) {
  int values[24];
  for (int i = 0; i < 24; i++) values[i] = (int)NEXT(s) % 1000;
  for (int i = 1; i < 24; i++)
    for (int j = i; j > 0 && values[j - 1] > values[j]; j--) swap(&values[j - 1], &values[j]);
  for (int i = 0; i < 24; i += 3) OUT(values[i]);
  char bytes[61], copy[70];
  for (int i = 0; i < 61; i++) bytes[i] = (char)NEXT(s);
  __builtin_memset(copy, 0x5a, sizeof copy);
  __builtin_memcpy(copy + (s & 3), bytes + (s >> 7 & 3), 50);
  __builtin_memmove(copy + 5, copy, 40);
  u64 hash = 0;
  for (int i = 0; i < 70; i++) hash = hash * 31 + (u8)copy[i];
  OUT(hash);
  // An address that is not known before: unaligned words.
  u32 word;
  u64 wide;
  u16 half;
  __builtin_memcpy(&word, bytes + (NEXT(s) & 31), 4);
  __builtin_memcpy(&wide, bytes + (NEXT(s) & 31), 8);
  __builtin_memcpy(&half, bytes + (NEXT(s) & 31), 2);
  OUT(word); OUT(wide); OUT(half);
  u64 table[8] = {0};
  for (int i = 0; i < 40; i++) table[NEXT(s) & 7] ^= s;
  for (int i = 0; i < 8; i++) OUT(table[i]);
  u64 *chosen = (s & 8) ? table : run->out + 300;
  chosen[1] = 0;
  chosen[s & 1] += 5;
  OUT(chosen[1] + chosen[s & 1]);
}

NOINLINE static void control(struct run *run, u64 s) {
  u32 item = run->item, rotated = 0;
  for (u32 i = item % 7; i < 40 + item % 11; i += 1 + item % 3) {
    if (i & 1)
      rotated += i * (u32)s;
    else if (i % 5 == 2)
      continue;
    else
      rotated = rotated << 5 | rotated >> 27;
    if (rotated % 97 == 13) break;
  }
  OUT(rotated);
  u64 a = s, b = s >> 9, found = 0;
  for (int turn = 0; turn < 12; turn++) {
    switch (a % 13) {
    case 0: found += 11; break;
    case 1: found ^= b * 3; // and on
    case 2: found += 22; break;
    case 3: found += a ^ b; break;
    case 4: if (b & 1) goto out; found -= 3; break;
    case 5: found |= a & b; break;
    case 7: found -= a | b; break;
    case 8: for (u32 i = 0; i < (b & 7); i++) found = found * 3 + i; break;
    case 9: do { found += 5; } while (found % 7); break;
    default: found = found << 1 | found >> 63;
    }
    NEXT(a);
  }
out:
  OUT(found); OUT(a);
  u32 steps = 0;
  for (u32 n = item * 3 + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2) steps++;
  OUT(steps);
}

NOINLINE static void calls(struct run *run, u64 s) {
  u32 item = run->item;
  struct record r = {(int)item, item * 0.5, "abcd", {1, 2, 3}};
  for (int i = 0; i < 5; i++) r = change(r, (int)(NEXT(s) & 15));
  OUT(r.key); OUT(BITS64(r.weight));
  for (int i = 0; i < 5; i++) OUT(r.tag[i]);
  for (int i = 0; i < 3; i++) OUT(r.halves[i]);
  OUT(ackermann(2, item % 5)); OUT(fibonacci(item % 11)); OUT(deep((int)(item & 15)));
  int (*functions[3])(int) = {twice, minus, deep};
  for (int i = 0; i < 6; i++) OUT(functions[NEXT(s) % 3]((int)item - 40));
  OUT(many(s, (u32)s, (u16)s, (u8)s, item * 0.25, (float)item, r, s, s + 1, s + 2, s + 3, s + 4, s + 5, s + 6, s + 7, s + 8, s + 9,
           s + 10, s + 11, s + 12));
}

NOINLINE static void vectors(struct run *run, u64 s) {
  four v = {(int)s, (int)(s >> 8), (int)(s >> 16), 7}, w = v.wzyx * 3 - v;
  OUT(v.x + w.y); OUT(w.z); OUT(w.w); OUT((v > w).y);
  w[s & 3] = 99;
  OUT(w[(s >> 5) & 3]); OUT(w.x ^ w.y ^ w.z ^ w.w);
  pair p = {(float)(s & 0xffff), 0.5f}, q = p * 1.5f + p.yx;
  OUT(BITS32(q.x)); OUT(BITS32(q.y)); OUT(BITS32((p * q - p).x)); OUT(BITS32((p + q).y));
  eight e;
  __builtin_memcpy(&e, &s, 8);
  e = e * (u8)3 + e.s76543210;
  u64 wide;
  __builtin_memcpy(&wide, &e, 8);
  OUT(wide);
  shorts h;
  __builtin_memcpy(&h, &s, 8);
  h = (h << (short)2) - (h >> (short)3) + h.wzyx * h;
  h = h > h.yxwz ? h : h.yxwz;
  __builtin_memcpy(&wide, &h, 8);
  OUT(wide);
}

static void compute(struct run *run) {
  u64 s = IN(3) + run->item * 77773 + 5;
  memory(run, s);
  control(run, s);
  calls(run, s);
  vectors(run, s);
}
