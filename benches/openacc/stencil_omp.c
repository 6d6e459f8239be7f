#include "stencil.h"

static void enter(void) {
#pragma omp target enter data map(to : plate, next)
}

static void sweep(const double *restrict from, double *restrict to) {
#pragma omp target teams distribute parallel for collapse(2) map(to : from[0 : CELLS]) map(tofrom : to[0 : CELLS])
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
#pragma omp target exit data map(from : plate) map(release : next)
}
