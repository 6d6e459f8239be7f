/* Problem sizes, and what host and device compute in the same words. */
#ifndef GANGWAY_BENCH_SIZES_H
#define GANGWAY_BENCH_SIZES_H

#ifndef FUNCTION
#define FUNCTION static inline
#endif

enum {
  STREAM = 1 << 23,  /* doubles per array */
  GRID = 160,        /* points along each edge */
  BODIES = 8192,
  MATRIX = 512,
  WALKS = 1 << 17,
  SAMPLES = 1 << 24,
  BLOCK = 256,
  TILE = 16,
};

/* A random walk until it is sixteen steps from where it began: as many steps as chance
 * has it, different for every walk. */
FUNCTION unsigned walk(unsigned seed) {
  unsigned state = seed * 747796405u + 2891336453u, steps = 0;
  int place = 0;
  while (place > -16 && place < 16) {
    state = state * 1664525u + 1013904223u;
    place += state >> 31 ? 1 : -1;
    ++steps;
  }
  return steps;
}

#endif
