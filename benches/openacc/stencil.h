/* A five-point stencil: sweeps of a plate, from one grid to the other and back. */
#include "timing.h"

enum { SIDE = 1024, SWEEPS = 10, CELLS = SIDE * SIDE };

static double plate[CELLS], next[CELLS];

static void start(double *grid) {
  for (int i = 0; i < CELLS; ++i)
    grid[i] = (double)(i * 7 % 1000);
}

static void prepare(void) {
  start(plate);
  start(next);
}

static void sweep_on_host(const double *from, double *to) {
  for (int y = 1; y < SIDE - 1; ++y)
    for (int x = 1; x < SIDE - 1; ++x) {
      int i = y * SIDE + x;
      to[i] = 0.5 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - SIDE] + from[i + SIDE]);
    }
}

/* Every pass goes on where the one before has ended. */
static void check(void) {
  double *a = malloc(sizeof plate), *b = malloc(sizeof plate);
  start(a);
  start(b);
  for (int sweep = 0; sweep < SWEEPS * (PASSES + 1); sweep += 2) {
    sweep_on_host(a, b);
    sweep_on_host(b, a);
  }
  for (int i = 0; i < CELLS; ++i)
    require_near(plate[i], a[i], 1e-12);
  free(a);
  free(b);
}
