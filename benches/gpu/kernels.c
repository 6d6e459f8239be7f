/* Loops that run on whatever `target` means: kernels CASE device|host. The same source is
 * compiled for GPUs and, without offloading, for the host. Checks what it computes and
 * prints the time of the best pass. */
#include "../programs/bench.h"
#include "../vgpu/sizes.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { PASSES = 9, POINTS = GRID * GRID * GRID };

static double *a, *b, *c, total;
static float *in, *out;

static void *block(size_t bytes) {
  void *memory = malloc(bytes);
  require(memory != NULL, "there is too little memory");
  memset(memory, 0, bytes);
  return memory;
}

static int near(double got, double expected, double tolerance) {
  return fabs(got - expected) <= tolerance * (1.0 + fabs(expected));
}

/* --- BabelStream --- */

static void stream_setup(void) {
  a = block(STREAM * sizeof *a), b = block(STREAM * sizeof *b), c = block(STREAM * sizeof *c);
  for (long i = 0; i < STREAM; ++i)
    b[i] = (double)(i % 1000), c[i] = (double)(i % 77);
#pragma omp target enter data map(to : a[0 : STREAM], b[0 : STREAM], c[0 : STREAM])
}

static void copy(void) {
#pragma omp target teams distribute parallel for map(to : a[0 : STREAM], b[0 : STREAM])
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i];
}

static void mul(void) {
#pragma omp target teams distribute parallel for map(to : a[0 : STREAM], b[0 : STREAM])
  for (long i = 0; i < STREAM; ++i)
    a[i] = 0.4 * b[i];
}

static void add(void) {
#pragma omp target teams distribute parallel for map(to : a[0 : STREAM], b[0 : STREAM], c[0 : STREAM])
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i] + c[i];
}

static void triad(void) {
#pragma omp target teams distribute parallel for map(to : a[0 : STREAM], b[0 : STREAM], c[0 : STREAM])
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i] + 0.4 * c[i];
}

static void dot(void) {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)                                 \
    map(to : b[0 : STREAM], c[0 : STREAM]) map(tofrom : sum)
  for (long i = 0; i < STREAM; ++i)
    sum += b[i] * c[i];
  total = sum;
}

static void stream_check(double from_b, double from_c) {
#pragma omp target update from(a[0 : STREAM])
  for (long i = 0; i < STREAM; ++i)
    require(near(a[i], from_b * b[i] + from_c * c[i], 1e-15), "an element is wrong");
}

static void copy_check(void) { stream_check(1, 0); }
static void mul_check(void) { stream_check(0.4, 0); }
static void add_check(void) { stream_check(1, 1); }
static void triad_check(void) { stream_check(1, 0.4); }

static void dot_check(void) {
  double expected = 0;
  for (long i = 0; i < STREAM; ++i)
    expected += b[i] * c[i];
  require(near(total, expected, 1e-10), "the sum is wrong");
}

/* --- stencil --- */

static float *filled(size_t count) {
  float *array = block(count * sizeof *array);
  unsigned state = 1;
  for (size_t i = 0; i < count; ++i)
    array[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24);
  return array;
}

static void stencil_setup(void) {
  in = filled(POINTS), out = block(POINTS * sizeof *out);
#pragma omp target enter data map(to : in[0 : POINTS], out[0 : POINTS])
}

static inline float stencil_point(const float *from, long i) {
  return 0.4f * from[i] + 0.1f * (from[i - 1] + from[i + 1] + from[i - GRID] + from[i + GRID] +
                                  from[i - (long)GRID * GRID] + from[i + (long)GRID * GRID]);
}

static void stencil(void) {
#pragma omp target teams distribute parallel for collapse(3) map(to : in[0 : POINTS], out[0 : POINTS])
  for (int z = 1; z < GRID - 1; ++z)
    for (int y = 1; y < GRID - 1; ++y)
      for (int x = 1; x < GRID - 1; ++x) {
        long i = ((long)z * GRID + y) * GRID + x;
        out[i] = stencil_point(in, i);
      }
}

static void stencil_check(void) {
#pragma omp target update from(out[0 : POINTS])
  for (long z = 1; z < GRID - 1; ++z)
    for (long y = 1; y < GRID - 1; ++y)
      for (long x = 1; x < GRID - 1; ++x) {
        long i = (z * GRID + y) * GRID + x;
        require(near(out[i], stencil_point(in, i), 1e-6), "a point is wrong");
      }
}

/* --- n-body --- */

static void nbody_setup(void) {
  in = filled(3 * BODIES), out = block(3 * BODIES * sizeof *out);
#pragma omp target enter data map(to : in[0 : 3 * BODIES], out[0 : 3 * BODIES])
}

static void nbody(void) {
#pragma omp target teams distribute parallel for map(to : in[0 : 3 * BODIES], out[0 : 3 * BODIES])
  for (int i = 0; i < BODIES; ++i) {
    float x = in[i], y = in[BODIES + i], z = in[2 * BODIES + i];
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < BODIES; ++j) {
      float dx = in[j] - x, dy = in[BODIES + j] - y, dz = in[2 * BODIES + j] - z;
      float square = dx * dx + dy * dy + dz * dz + 0.01f;
      float inverse = 1 / sqrtf(square);
      float scale = inverse * inverse * inverse;
      fx += dx * scale;
      fy += dy * scale;
      fz += dz * scale;
    }
    out[i] = fx, out[BODIES + i] = fy, out[2 * BODIES + i] = fz;
  }
}

static void nbody_check(void) {
#pragma omp target update from(out[0 : 3 * BODIES])
  for (int i = 0; i < BODIES; i += 97) {
    double force = 0;
    for (int j = 0; j < BODIES; ++j) {
      double d[3], square = 0.01;
      for (int axis = 0; axis < 3; ++axis)
        d[axis] = in[axis * BODIES + j] - in[axis * BODIES + i], square += d[axis] * d[axis];
      force += d[0] / (square * sqrt(square));
    }
    require(near(out[i], force, 3e-3), "a force is wrong");
  }
}

/* --- reductions beside the triad on the same data --- */

enum { ELEMENTS = 1 << 24 };

#define ELEMENT float
#define NAMED(name) float_##name
#include "reductions.h"
#define ELEMENT double
#define NAMED(name) double_##name
#include "reductions.h"

static const struct {
  const char *name;
  void (*setup)(void), (*run)(void), (*check)(void);
} cases[] = {
    {"copy", stream_setup, copy, copy_check},
    {"mul", stream_setup, mul, mul_check},
    {"add", stream_setup, add, add_check},
    {"triad", stream_setup, triad, triad_check},
    {"dot", stream_setup, dot, dot_check},
    {"stencil", stencil_setup, stencil, stencil_check},
    {"nbody", nbody_setup, nbody, nbody_check},
    {"triad-float", float_setup, float_triad, float_triad_check},
    {"sum-float", float_setup, float_sum, float_sum_check},
    {"triad-double", double_setup, double_triad, double_triad_check},
    {"sum-double", double_setup, double_sum, double_sum_check},
};

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: kernels CASE device|host\n"), 2;
  int on_host = 0;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  require(on_host == !strcmp(argv[2], "host"), "the regions run elsewhere");
  for (size_t which = 0; which < sizeof cases / sizeof *cases; ++which) {
    if (strcmp(cases[which].name, argv[1]))
      continue;
    double samples[PASSES];
    cases[which].setup();
    for (int pass = 0; pass < PASSES; ++pass) {
      double start = now_ns();
      cases[which].run();
      samples[pass] = now_ns() - start;
    }
    cases[which].check();
    print_samples(samples, PASSES);
    return 0;
  }
  return fprintf(stderr, "there is no case '%s'\n", argv[1]), 2;
}
