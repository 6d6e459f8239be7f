/* Atomic operations on values of 1, 2 and 16 bytes: device code calls libatomic for them. */
#include "check.h"

enum { N = 1000 };

int main(void)
{
  unsigned char byte = 0, captured = 0;
  unsigned short word = 0;
  __int128 wide = 0;
#pragma omp target teams distribute parallel for map(tofrom : byte, captured, word, wide)
  for (int i = 0; i < N; i++) {
    unsigned char before;
#pragma omp atomic
    byte++;
#pragma omp atomic
    word += 3;
#pragma omp atomic
    wide += 1;
#pragma omp atomic capture
    { before = captured; captured += 1; }
    if (before == 255) {
#pragma omp atomic
      wide += (__int128)1 << 64;
    }
  }
  CHECK(byte == N % 256 && captured == N % 256 && word == 3 * N);
  CHECK((int)wide == N && (int)(wide >> 64) == N / 256);
  puts("passed");
  return 0;
}
