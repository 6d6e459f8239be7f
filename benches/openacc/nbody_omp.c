#include "nbody.h"

static void enter(void) {
#pragma omp target enter data map(to : x, y, z) map(alloc : fx, fy, fz)
}

static void run(void) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < BODIES; ++i) {
    float sx = 0, sy = 0, sz = 0;
    for (int j = 0; j < BODIES; ++j) {
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float force = 1 / (square * sqrtf(square));
      sx += force * dx;
      sy += force * dy;
      sz += force * dz;
    }
    fx[i] = sx;
    fy[i] = sy;
    fz[i] = sz;
  }
}

static void leave(void) {
#pragma omp target exit data map(from : fx, fy, fz) map(release : x, y, z)
}
