/* A histogram: bins of each gang, to which atomic operations add, and their sums. */
#include "timing.h"

enum { SAMPLES = 1 << 23, BINS = 256, PARTS = 64, PART = SAMPLES / PARTS };

static unsigned char samples_of[SAMPLES];
static unsigned counts[BINS];

static void prepare(void) {
  for (int i = 0; i < SAMPLES; ++i)
    samples_of[i] = (unsigned char)(random_bits() >> 16);
}

/* Every pass counts once more. */
static void check(void) {
  static unsigned expected[BINS];
  for (int i = 0; i < SAMPLES; ++i)
    expected[samples_of[i]] += PASSES + 1;
  require(memcmp(expected, counts, sizeof counts) == 0, "a bin has a wrong count");
}
