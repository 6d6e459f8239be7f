/* Forces of bodies on each other. */
#include "timing.h"

enum { BODIES = 4096 };

static float x[BODIES], y[BODIES], z[BODIES], fx[BODIES], fy[BODIES], fz[BODIES];

static void prepare(void) {
  for (int i = 0; i < BODIES; ++i) {
    x[i] = random_number();
    y[i] = random_number();
    z[i] = random_number();
  }
}

static void check(void) {
  for (int i = 0; i < BODIES; i += 97) {
    double sx = 0, sy = 0, sz = 0;
    for (int j = 0; j < BODIES; ++j) {
      double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      double square = dx * dx + dy * dy + dz * dz + 0.01;
      double force = 1 / (square * sqrt(square));
      sx += force * dx, sy += force * dy, sz += force * dz;
    }
    require_near(fx[i], sx, 3e-3);
    require_near(fy[i], sy, 3e-3);
    require_near(fz[i], sz, 3e-3);
  }
}
