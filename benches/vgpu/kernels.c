/* The device side of the cases in compare.c: the same arithmetic, laid out as a
 * CUDA programmer would. Compiled to PTX by clang-22, or to machine code by nvcc. */
#include "device.h"
#include "sizes.h"

KERNEL empty(void) {}

KERNEL copy(GLOBAL double *a, const GLOBAL double *b) {
  long i = (long)BLOCK_X * THREADS_X + THREAD_X;
  if (i < STREAM)
    a[i] = b[i];
}

KERNEL mul(GLOBAL double *a, const GLOBAL double *b) {
  long i = (long)BLOCK_X * THREADS_X + THREAD_X;
  if (i < STREAM)
    a[i] = 0.4 * b[i];
}

KERNEL add(GLOBAL double *a, const GLOBAL double *b, const GLOBAL double *c) {
  long i = (long)BLOCK_X * THREADS_X + THREAD_X;
  if (i < STREAM)
    a[i] = b[i] + c[i];
}

KERNEL triad(GLOBAL double *a, const GLOBAL double *b, const GLOBAL double *c) {
  long i = (long)BLOCK_X * THREADS_X + THREAD_X;
  if (i < STREAM)
    a[i] = b[i] + 0.4 * c[i];
}

KERNEL dot(const GLOBAL double *a, const GLOBAL double *b, GLOBAL double *sum) {
  static SHARED double parts[32];
  double mine = 0;
  for (long i = (long)BLOCK_X * THREADS_X + THREAD_X; i < STREAM; i += (long)BLOCKS_X * THREADS_X)
    mine += a[i] * b[i];
  mine = warp_sum(mine);
  if (THREAD_X % 32 == 0)
    parts[THREAD_X / 32] = mine;
  synchronise();
  if (THREAD_X < 32) {
    mine = warp_sum(THREAD_X < THREADS_X / 32 ? parts[THREAD_X] : 0);
    if (THREAD_X == 0)
      atomic_add_f64((double *)sum, mine);
  }
}

KERNEL stencil(GLOBAL float *out, const GLOBAL float *in) {
  int x = BLOCK_X * THREADS_X + THREAD_X, y = BLOCK_Y * THREADS_Y + THREAD_Y, z = BLOCK_Z;
  if (x < 1 || y < 1 || z < 1 || x >= GRID - 1 || y >= GRID - 1 || z >= GRID - 1)
    return;
  long i = ((long)z * GRID + y) * GRID + x;
  out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - GRID] + in[i + GRID] +
                                  in[i - (long)GRID * GRID] + in[i + (long)GRID * GRID]);
}

KERNEL nbody(GLOBAL float *forces, const GLOBAL float *bodies) {
  static SHARED float tile[3][BLOCK];
  int i = BLOCK_X * BLOCK + THREAD_X;
  float x = bodies[i], y = bodies[BODIES + i], z = bodies[2 * BODIES + i];
  float fx = 0, fy = 0, fz = 0;
  for (int first = 0; first < BODIES; first += BLOCK) {
    for (int axis = 0; axis < 3; ++axis)
      tile[axis][THREAD_X] = bodies[axis * BODIES + first + THREAD_X];
    synchronise();
    for (int j = 0; j < BLOCK; ++j) {
      float dx = tile[0][j] - x, dy = tile[1][j] - y, dz = tile[2][j] - z;
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float inverse = 1 / SQRT(square);
      float scale = inverse * inverse * inverse;
      fx += dx * scale;
      fy += dy * scale;
      fz += dz * scale;
    }
    synchronise();
  }
  forces[i] = fx;
  forces[BODIES + i] = fy;
  forces[2 * BODIES + i] = fz;
}

KERNEL matmul(GLOBAL float *c, const GLOBAL float *a, const GLOBAL float *b) {
  static SHARED float left[TILE][TILE], right[TILE][TILE];
  int x = THREAD_X, y = THREAD_Y, column = BLOCK_X * TILE + x, row = BLOCK_Y * TILE + y;
  float sum = 0;
  for (int first = 0; first < MATRIX; first += TILE) {
    left[y][x] = a[row * MATRIX + first + x];
    right[y][x] = b[(first + y) * MATRIX + column];
    synchronise();
    for (int k = 0; k < TILE; ++k)
      sum += left[y][k] * right[k][x];
    synchronise();
  }
  c[row * MATRIX + column] = sum;
}

KERNEL walks(GLOBAL unsigned *steps) {
  unsigned i = BLOCK_X * THREADS_X + THREAD_X;
  if (i < WALKS)
    steps[i] = walk(i);
}

KERNEL histogram(GLOBAL unsigned *counts, const GLOBAL unsigned char *values) {
  static SHARED unsigned mine[256];
  mine[THREAD_X] = 0;
  synchronise();
  for (long i = (long)BLOCK_X * THREADS_X + THREAD_X; i < SAMPLES; i += (long)BLOCKS_X * THREADS_X)
    atomic_add_i32((int *)&mine[values[i]], 1);
  synchronise();
  atomic_add_i32((int *)&counts[THREAD_X], mine[THREAD_X]);
}
