/* Runs one case natively, on all cores, and then on the virtual GPU, and compares
 * the results: compare CASE KERNELS.ptx. Prints the best time of each. */
#include "../programs/bench.h"
#include "driver.h"
#include "sizes.h"

#include <math.h>
#include <string.h>

enum { PASSES = 7 };

static handle module;

static void launch(const char *name, int gx, int gy, int gz, int bx, int by, void **arguments) {
  handle function;
  CHECK(cuModuleGetFunction(&function, module, name));
  CHECK(cuLaunchKernel(function, gx, gy, gz, bx, by, 1, 0, 0, arguments, 0));
  CHECK(cuCtxSynchronize());
}

static address on_device(const void *from, size_t bytes) {
  address memory;
  CHECK(cuMemAlloc_v2(&memory, bytes));
  if (from)
    CHECK(cuMemcpyHtoD_v2(memory, from, bytes));
  return memory;
}

/* Host arrays, and what is on the device of them. */
static double *a, *b, *c, sum;
static float *in, *out;
static unsigned *counts;
static unsigned char *values;
static address device[3];
static size_t result_bytes;
static void *result;

static void *filled(size_t count) {
  float *array = malloc(count * sizeof *array);
  unsigned state = 1;
  for (size_t i = 0; i < count; ++i)
    array[i] = (float)((state = state * 1664525u + 1013904223u) >> 8) / (1 << 24);
  return array;
}

/* --- streams --- */

static void stream_setup(void) {
  a = malloc(STREAM * sizeof *a), b = malloc(STREAM * sizeof *b), c = malloc(STREAM * sizeof *c);
#pragma omp parallel for
  for (long i = 0; i < STREAM; ++i)
    a[i] = 0, b[i] = (double)(i % 1000), c[i] = (double)(i % 77);
  device[0] = on_device(a, STREAM * sizeof *a);
  device[1] = on_device(b, STREAM * sizeof *b);
  device[2] = on_device(c, STREAM * sizeof *c);
  result = a, result_bytes = STREAM * sizeof *a;
}

static void copy_native(void) {
#pragma omp parallel for
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i];
}

static void copy_device(void) {
  launch("copy", STREAM / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0], &device[1]});
}

static void mul_native(void) {
#pragma omp parallel for
  for (long i = 0; i < STREAM; ++i)
    a[i] = 0.4 * b[i];
}

static void mul_device(void) {
  launch("mul", STREAM / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0], &device[1]});
}

static void add_native(void) {
#pragma omp parallel for
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i] + c[i];
}

static void add_device(void) {
  launch("add", STREAM / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0], &device[1], &device[2]});
}

static void triad_native(void) {
#pragma omp parallel for
  for (long i = 0; i < STREAM; ++i)
    a[i] = b[i] + 0.4 * c[i];
}

static void triad_device(void) {
  launch("triad", STREAM / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0], &device[1], &device[2]});
}

static void dot_setup(void) {
  stream_setup();
  device[0] = on_device(&sum, sizeof sum);
  result = &sum, result_bytes = sizeof sum;
}

static void dot_native(void) {
  double total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (long i = 0; i < STREAM; ++i)
    total += b[i] * c[i];
  sum = total;
}

static void dot_device(void) {
  CHECK(cuMemsetD8_v2(device[0], 0, sizeof sum));
  launch("dot", 64, 1, 1, BLOCK, 1, (void *[]){&device[1], &device[2], &device[0]});
}

/* --- stencil --- */

static void stencil_setup(void) {
  size_t points = (size_t)GRID * GRID * GRID;
  in = filled(points), out = calloc(points, sizeof *out);
  device[0] = on_device(out, points * sizeof *out);
  device[1] = on_device(in, points * sizeof *in);
  result = out, result_bytes = points * sizeof *out;
}

static void stencil_native(void) {
#pragma omp parallel for
  for (int z = 1; z < GRID - 1; ++z)
    for (int y = 1; y < GRID - 1; ++y)
      for (int x = 1; x < GRID - 1; ++x) {
        long i = ((long)z * GRID + y) * GRID + x;
        out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - GRID] + in[i + GRID] +
                                        in[i - (long)GRID * GRID] + in[i + (long)GRID * GRID]);
      }
}

static void stencil_device(void) {
  launch("stencil", GRID / 32, GRID / 8, GRID, 32, 8, (void *[]){&device[0], &device[1]});
}

/* --- n-body --- */

static void nbody_setup(void) {
  in = filled(3 * BODIES), out = calloc(3 * BODIES, sizeof *out);
  device[0] = on_device(out, 3 * BODIES * sizeof *out);
  device[1] = on_device(in, 3 * BODIES * sizeof *in);
  result = out, result_bytes = 3 * BODIES * sizeof *out;
}

static void nbody_native(void) {
#pragma omp parallel for
  for (int i = 0; i < BODIES; ++i) {
    float x = in[i], y = in[BODIES + i], z = in[2 * BODIES + i];
    float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
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

static void nbody_device(void) {
  launch("nbody", BODIES / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0], &device[1]});
}

/* --- matrices --- */

static float *left, *right;

static void matmul_setup(void) {
  size_t elements = (size_t)MATRIX * MATRIX;
  left = filled(elements), right = filled(elements), out = calloc(elements, sizeof *out);
  device[0] = on_device(out, elements * sizeof *out);
  device[1] = on_device(left, elements * sizeof *left);
  device[2] = on_device(right, elements * sizeof *right);
  result = out, result_bytes = elements * sizeof *out;
}

static void matmul_native(void) {
#pragma omp parallel for
  for (int row = 0; row < MATRIX; ++row)
    for (int column = 0; column < MATRIX; ++column) {
      float total = 0;
      for (int k = 0; k < MATRIX; ++k)
        total += left[row * MATRIX + k] * right[k * MATRIX + column];
      out[row * MATRIX + column] = total;
    }
}

static void matmul_device(void) {
  launch("matmul", MATRIX / TILE, MATRIX / TILE, 1, TILE, TILE,
         (void *[]){&device[0], &device[1], &device[2]});
}

/* --- random walks --- */

static void walks_setup(void) {
  counts = calloc(WALKS, sizeof *counts);
  device[0] = on_device(counts, WALKS * sizeof *counts);
  result = counts, result_bytes = WALKS * sizeof *counts;
}

static void walks_native(void) {
#pragma omp parallel for schedule(dynamic, 256)
  for (unsigned i = 0; i < WALKS; ++i)
    counts[i] = walk(i);
}

static void walks_device(void) { launch("walks", WALKS / BLOCK, 1, 1, BLOCK, 1, (void *[]){&device[0]}); }

/* --- histogram --- */

static void histogram_setup(void) {
  values = malloc(SAMPLES);
  unsigned state = 1;
  for (long i = 0; i < SAMPLES; ++i)
    values[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
  counts = calloc(256, sizeof *counts);
  device[0] = on_device(counts, 256 * sizeof *counts);
  device[1] = on_device(values, SAMPLES);
  result = counts, result_bytes = 256 * sizeof *counts;
}

static void histogram_native(void) {
  unsigned bins[256] = {0};
#pragma omp parallel for reduction(+ : bins)
  for (long i = 0; i < SAMPLES; ++i)
    ++bins[values[i]];
  memcpy(counts, bins, sizeof bins);
}

static void histogram_device(void) {
  CHECK(cuMemsetD8_v2(device[0], 0, 256 * sizeof *counts));
  launch("histogram", 64, 1, 1, 256, 1, (void *[]){&device[0], &device[1]});
}

/* --- an empty launch: a latency, with nothing native beside it --- */

static void nothing(void) {}

static void empty_device(void) {
  static handle function;
  if (!function)
    CHECK(cuModuleGetFunction(&function, module, "empty"));
  for (int time = 0; time < 1000; ++time) {
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
    CHECK(cuCtxSynchronize());
  }
}

enum type { NONE, F32, F64, U32 };

static const struct {
  const char *name;
  void (*setup)(void), (*native)(void), (*device)(void);
  enum type type;
  double tolerance;
} cases[] = {
    {"copy", stream_setup, copy_native, copy_device, F64, 0},
    {"mul", stream_setup, mul_native, mul_device, F64, 0},
    {"add", stream_setup, add_native, add_device, F64, 0},
    {"triad", stream_setup, triad_native, triad_device, F64, 0},
    {"dot", dot_setup, dot_native, dot_device, F64, 1e-10},
    {"stencil", stencil_setup, stencil_native, stencil_device, F32, 1e-6},
    {"nbody", nbody_setup, nbody_native, nbody_device, F32, 3e-3},
    {"matmul", matmul_setup, matmul_native, matmul_device, F32, 1e-4},
    {"walks", walks_setup, walks_native, walks_device, U32, 0},
    {"histogram", histogram_setup, histogram_native, histogram_device, U32, 0},
    {"empty", nothing, nothing, empty_device, NONE, 0},
};

static double element(const void *array, size_t index, enum type type) {
  return type == F64 ? ((const double *)array)[index]
         : type == F32 ? ((const float *)array)[index]
                       : ((const unsigned *)array)[index];
}

/* Sums in another order differ in the last digits, by more where terms of both signs cancel. */
static void compare(enum type type, double tolerance) {
  if (type == NONE)
    return;
  void *found = malloc(result_bytes);
  CHECK(cuMemcpyDtoH_v2(found, device[0], result_bytes));
  size_t count = result_bytes / (type == F64 ? 8 : 4);
  for (size_t i = 0; i < count; ++i) {
    double expected = element(result, i, type), got = element(found, i, type);
    if (!(fabs(got - expected) <= tolerance * (1 + fabs(expected)))) {
      fprintf(stderr, "element %zu is %.9g on the device, %.9g natively\n", i, got, expected);
      exit(1);
    }
  }
  free(found);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: compare CASE KERNELS.ptx\n"), 2;
  handle context;
  int ordinal;
  load_driver();
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&ordinal, 0));
  CHECK(cuCtxCreate_v2(&context, 0, ordinal));
  CHECK(cuModuleLoad(&module, argv[2]));
  for (size_t which = 0; which < sizeof cases / sizeof *cases; ++which) {
    if (strcmp(cases[which].name, argv[1]))
      continue;
    double native = 1e300, device_time = 1e300;
    cases[which].setup();
    for (int pass = 0; pass < PASSES; ++pass) {
      double start = now_ns();
      cases[which].native();
      native = fmin(native, now_ns() - start);
    }
    /* OpenMP's threads go on looking for work for a while, on the cores that the device needs. */
    nanosleep(&(struct timespec){.tv_nsec = 300 * 1000 * 1000}, NULL);
    for (int pass = 0; pass < PASSES; ++pass) {
      double start = now_ns();
      cases[which].device();
      device_time = fmin(device_time, now_ns() - start);
    }
    compare(cases[which].type, cases[which].tolerance);
    printf("native_ns %.0f\ndevice_ns %.0f\n", native, device_time);
    return 0;
  }
  return fprintf(stderr, "there is no case '%s'\n", argv[1]), 2;
}
