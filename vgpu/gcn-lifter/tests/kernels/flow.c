// Lanes that go different ways, leave loops at different turns, and access memory at places without order.
#include "run.h"

static void compute(struct run *run) {
  u64 seed = IN(0);
  u32 turns = (u32)(seed >> 13 & 15), sum = 0;
  for (u32 n = 0; n < turns; n++) {
    if (seed & 1) {
      sum += (u32)IN(n) * 3;
      if (sum & 2) continue;
    } else if (seed & 2) {
      sum ^= n << 3;
    } else {
      if (sum > 0xf0000000u) break;
      sum += n;
    }
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    OUT(sum);
  }
  OUT(seed);
  u32 other = (u32)seed | 1;
  while (other != 1 && run->count < 300) {
    other = other & 1 ? other * 3 + 1 : other >> 1;
    OUT(other);
  }
  switch (seed >> 60) {
  case 0: OUT(1); break;
  case 1: OUT(sum); break;
  case 2: OUT(~seed); // and on
  case 3: OUT(turns); break;
  case 7: OUT(IN(seed & 7)); break;
  default: OUT(9);
  }
  u8 bytes[16];
  for (u32 n = 0; n < 16; n++) bytes[n] = (u8)(IN(n) >> (n & 7));
  for (u32 n = 0; n < 8; n++) OUT(bytes[(seed >> (4 * n)) & 15]);
  ((u8 *)(run->out + 500))[3] = 7;
  *(u32 __attribute__((aligned(1))) *)((u8 *)(run->out + 501) + 3) = 0x12345678;
}
