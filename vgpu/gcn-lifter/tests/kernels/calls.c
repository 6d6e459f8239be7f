// Functions that are called by their addresses, of which each lane has its own, and such that call themselves.
#include "run.h"

typedef u64 (*function)(struct run *, u64, u32);

static NOINLINE u64 add(struct run *run, u64 a, u32 n) { return a + IN(n); }

static NOINLINE u64 turn(struct run *run, u64 a, u32 n) {
  for (u32 at = 0; at < (n & 7); at++) {
    if (a & 1) OUT(a);
    a = a << 7 | a >> 57;
  }
  return a;
}

static NOINLINE u64 deep(struct run *run, u64 a, u32 n) {
  if (n < 2) return a ^ IN(n);
  u64 one = deep(run, a * 3 + n, n - 1);
  return one ^ deep(run, one + a, n - 2);
}

static NOINLINE u64 apply(struct run *run, function called, u64 a, u32 n) {
  u64 found = called(run, a, n);
  OUT(found);
  return found + n;
}

static function table[] = {add, turn, deep};

static void compute(struct run *run) {
  u64 value = IN(0);
  for (u32 n = 0; n < 6; n++) {
    function called = (function)HIDE((u64)table[HIDE(n) % 3]);
    value = apply(run, called, value, n);
    // Lanes differ.
    called = (function)HIDE((u64)table[(u32)(IN(n) >> 5) % 3]);
    value ^= apply(run, called, value, n & 3);
  }
  OUT(deep(run, value, 5));
}
