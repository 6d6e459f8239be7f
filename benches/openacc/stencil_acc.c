#include "stencil.h"

static void enter(void) {
#pragma acc enter data copyin(plate, next)
}

static void sweep(const double *restrict from, double *restrict to) {
#pragma acc parallel loop collapse(2) present(from[0 : CELLS], to[0 : CELLS])
  for (int y = 1; y < SIDE - 1; ++y)
    for (int x = 1; x < SIDE - 1; ++x) {
      int i = y * SIDE + x;
      to[i] = 0.5 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - SIDE] + from[i + SIDE]);
    }
}

static void run(void) {
  for (int sweeps = 0; sweeps < SWEEPS; sweeps += 2) {
    sweep(plate, next);
    sweep(next, plate);
  }
}

static void leave(void) {
#pragma acc exit data copyout(plate) delete (next)
}
