/* Loops of OpenMP as users write them: loops CASE [RUNS]. The same source is compiled for the host and,
 * with -DDEVICE, for a device. Prints the least processor time of a run, of all threads, and a sum of the
 * results by which runs are compared. */
#define GANGWAY_BENCH_PROCESSOR_TIME
#include "../programs/bench.h"

#include <math.h>
#include <string.h>

#define TEXT(...) #__VA_ARGS__
#define DIRECTIVE(...) _Pragma(TEXT(__VA_ARGS__))
#ifdef DEVICE
#define LOOP(...) DIRECTIVE(omp target teams distribute parallel for __VA_ARGS__)
#else
#define LOOP(...) DIRECTIVE(omp parallel for __VA_ARGS__)
#endif

enum {
  STREAM = 1 << 22,
  SIDE = 2048,
  BODIES = 4096,
  MATRIX = 512,
  WALKS = 1 << 14,
  STEPS = 512,
  BINS = 256,
  SAMPLES = 1 << 23,
  ROWS = 1 << 16,
  FILLED = 24,
  OPTIONS = 1 << 18,
  POINTS = 1 << 16,
};

static double *a, *b, *c;
static float *f, *g;
static int *columns, *starts;
static unsigned *bins;
static unsigned char *bytes;
static double result;

static void triad(void) {
  LOOP()
  for (int i = 0; i < STREAM; ++i)
    a[i] = b[i] + 0.4 * c[i];
}

static void saxpy(void) {
  LOOP()
  for (int i = 0; i < STREAM; ++i)
    f[i] = 0.5f * f[i] + g[i];
}

static void dot(void) {
  double sum = 0;
  LOOP(reduction(+ : sum))
  for (int i = 0; i < STREAM; ++i)
    sum += b[i] * c[i];
  result = sum;
}

static void largest(void) {
  float most = 0;
  LOOP(reduction(max : most))
  for (int i = 0; i < STREAM; ++i)
    most = fabsf(f[i] - g[i]) > most ? fabsf(f[i] - g[i]) : most;
  result = most;
}

static void stencil(void) {
  LOOP(collapse(2))
  for (int y = 1; y < SIDE - 1; ++y)
    for (int x = 1; x < SIDE - 1; ++x)
      a[y * SIDE + x] = 0.2 * (b[y * SIDE + x] + b[y * SIDE + x - 1] + b[y * SIDE + x + 1] +
                               b[(y - 1) * SIDE + x] + b[(y + 1) * SIDE + x]);
}

static void flattened(void) {
  LOOP()
  for (int i = 0; i < (SIDE - 2) * (SIDE - 2); ++i) {
    int y = i / (SIDE - 2) + 1, x = i % (SIDE - 2) + 1;
    a[y * SIDE + x] = 0.5 * (b[y * SIDE + x - 1] + b[y * SIDE + x + 1]);
  }
}

static void jacobi(void) {
  double change = 0;
  LOOP(collapse(2) reduction(max : change))
  for (int y = 1; y < SIDE - 1; ++y)
    for (int x = 1; x < SIDE - 1; ++x) {
      double next = 0.25 * (b[y * SIDE + x - 1] + b[y * SIDE + x + 1] + b[(y - 1) * SIDE + x] +
                            b[(y + 1) * SIDE + x]);
      change = fmax(change, fabs(next - b[y * SIDE + x]));
      a[y * SIDE + x] = next;
    }
  result = change;
}

static void transpose(void) {
  LOOP(collapse(2))
  for (int y = 0; y < SIDE; ++y)
    for (int x = 0; x < SIDE; ++x)
      a[x * SIDE + y] = b[y * SIDE + x];
}

static void nbody(void) {
  LOOP()
  for (int i = 0; i < BODIES; ++i) {
    float fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < BODIES; ++j) {
      float dx = g[3 * j] - g[3 * i], dy = g[3 * j + 1] - g[3 * i + 1], dz = g[3 * j + 2] - g[3 * i + 2];
      float square = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1 / sqrtf(square);
      float scale = inverse * inverse * inverse;
      fx += dx * scale, fy += dy * scale, fz += dz * scale;
    }
    f[3 * i] = fx, f[3 * i + 1] = fy, f[3 * i + 2] = fz;
  }
}

static void matmul(void) {
  LOOP(collapse(2))
  for (int row = 0; row < MATRIX; ++row)
    for (int column = 0; column < MATRIX; ++column) {
      double sum = 0;
      for (int k = 0; k < MATRIX; ++k)
        sum += b[row * MATRIX + k] * c[k * MATRIX + column];
      a[row * MATRIX + column] = sum;
    }
}

static void montecarlo(void) {
  long inside = 0;
  LOOP(reduction(+ : inside))
  for (int i = 0; i < WALKS; ++i) {
    unsigned state = (unsigned)i * 747796405u + 2891336453u;
    for (int step = 0; step < STEPS; ++step) {
      state = state * 1664525u + 1013904223u;
      float x = (float)(state >> 8) / (1 << 24);
      state = state * 1664525u + 1013904223u;
      float y = (float)(state >> 8) / (1 << 24);
      inside += x * x + y * y < 1;
    }
  }
  result = (double)inside;
}

static void walks(void) {
  long all = 0;
  LOOP(reduction(+ : all))
  for (int i = 0; i < WALKS; ++i) {
    unsigned state = (unsigned)i * 747796405u + 2891336453u;
    int place = 0, steps = 0;
    while (place > -16 && place < 16) {
      state = state * 1664525u + 1013904223u;
      place += state >> 31 ? 1 : -1;
      ++steps;
    }
    all += steps;
  }
  result = (double)all;
}

static void mandelbrot(void) {
  LOOP(collapse(2))
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) {
      double cr = x / 85.0 - 2, ci = y / 128.0 - 1, r = 0, i = 0;
      int turns = 0;
      for (; turns < 200 && r * r + i * i < 4; ++turns) {
        double next = r * r - i * i + cr;
        i = 2 * r * i + ci, r = next;
      }
      columns[y * 256 + x] = turns;
    }
}

/* GCC's code for NVIDIA's GPUs would need a lock of 16 bytes, which there is none of. */
#if defined DEVICE && !defined __clang__
#define NO_ARRAYS
#endif

#ifndef NO_ARRAYS
static void histogram(void) {
  unsigned *h = bins;
  LOOP(reduction(+ : h[ : BINS]))
  for (int i = 0; i < SAMPLES; ++i)
    ++h[bytes[i]];
}
#endif

static void atomics(void) {
  LOOP()
  for (int i = 0; i < SAMPLES / 8; ++i) {
    DIRECTIVE(omp atomic)
    ++bins[bytes[i]];
  }
}

static void sparse(void) {
  LOOP()
  for (int row = 0; row < ROWS; ++row) {
    double sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k)
      sum += c[k] * b[columns[k]];
    a[row] = sum;
  }
}

static void gather(void) {
  LOOP()
  for (int i = 0; i < ROWS * FILLED; ++i)
    a[i] = b[columns[i]];
}

static void options(void) {
  LOOP()
  for (int i = 0; i < OPTIONS; ++i) {
    double spot = 10 + b[i], strike = 10 + c[i], years = 0.25 + 0.001 * b[i];
    double root = 0.3 * sqrt(years), d1 = (log(spot / strike) + (0.02 + 0.045) * years) / root;
    double d2 = d1 - root;
    double n1 = 0.5 * erfc(-d1 * 0.7071067811865476), n2 = 0.5 * erfc(-d2 * 0.7071067811865476);
    a[i] = spot * n1 - strike * exp(-0.02 * years) * n2;
  }
}

static void waves(void) {
  LOOP()
  for (int i = 0; i < OPTIONS; ++i)
    a[i] = sin(b[i]) * cos(c[i]) + pow(1 + b[i], 0.7);
}

static void nearest(void) {
  LOOP()
  for (int i = 0; i < POINTS; ++i) {
    float least = 1e30f;
    int which = 0;
    for (int k = 0; k < 64; ++k) {
      float distance = 0;
      for (int d = 0; d < 4; ++d)
        distance += (g[4 * i + d] - f[4 * k + d]) * (g[4 * i + d] - f[4 * k + d]);
      if (distance < least)
        least = distance, which = k;
    }
    columns[i] = which;
  }
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"triad", triad},           {"saxpy", saxpy},         {"dot", dot},
    {"largest", largest},       {"stencil", stencil},     {"flattened", flattened},
    {"jacobi", jacobi},         {"transpose", transpose}, {"nbody", nbody},
    {"matmul", matmul},         {"montecarlo", montecarlo}, {"walks", walks},
    {"mandelbrot", mandelbrot}, {"atomics", atomics},
#ifndef NO_ARRAYS
    {"histogram", histogram},
#endif
    {"sparse", sparse},         {"gather", gather},       {"options", options},
    {"waves", waves},           {"nearest", nearest},
};

int main(int argc, char **argv) {
  if (argc < 2)
    return fprintf(stderr, "usage: loops CASE [RUNS]\n"), 2;
  int runs = argc > 2 ? atoi(argv[2]) : 9;
  const size_t stream = STREAM;
  a = malloc(stream * sizeof *a), b = malloc(stream * sizeof *b), c = malloc(stream * sizeof *c);
  f = malloc(stream * sizeof *f), g = malloc(stream * sizeof *g);
  columns = malloc(ROWS * FILLED * sizeof *columns), starts = malloc((ROWS + 1) * sizeof *starts);
  bins = calloc(BINS, sizeof *bins), bytes = malloc(SAMPLES);
  unsigned state = 1;
  for (size_t i = 0; i < stream; ++i) {
    state = state * 1664525u + 1013904223u;
    a[i] = 0, b[i] = (state >> 8) % 1000 * 0.01, c[i] = (state >> 12) % 77 * 0.1;
    f[i] = (float)(state >> 8) / (1 << 24), g[i] = (float)((state >> 4) % 4096) / 4096;
  }
  for (int i = 0; i < ROWS * FILLED; ++i)
    columns[i] = (int)((state = state * 1664525u + 1013904223u) >> 16);
  for (int i = 0; i <= ROWS; ++i)
    starts[i] = i * FILLED;
  for (int i = 0; i < SAMPLES; ++i)
    bytes[i] = (unsigned char)((state = state * 1664525u + 1013904223u) >> 24);
  for (size_t which = 0; which < sizeof cases / sizeof *cases; ++which) {
    if (strcmp(cases[which].name, argv[1]))
      continue;
    double best = 1e300;
#pragma omp target enter data map(to : a[ : stream], b[ : stream], c[ : stream], f[ : stream], g[ : stream]) \
    map(to : columns[ : ROWS * FILLED], starts[ : ROWS + 1], bins[ : BINS], bytes[ : SAMPLES])
    for (int run = 0; run < runs; ++run) {
      double start = now_ns();
      cases[which].run();
      best = fmin(best, now_ns() - start);
    }
#pragma omp target exit data map(from : a[ : stream], f[ : stream], columns[ : ROWS * FILLED], bins[ : BINS])
    double sum = result;
    for (size_t i = 0; i < stream; ++i)
      sum += a[i] + f[i];
    for (int i = 0; i < ROWS * FILLED; ++i)
      sum += columns[i];
    for (int i = 0; i < BINS; ++i)
      sum += (double)bins[i] * i;
    printf("best_ns %.0f\nsum %.15g\n", best, sum);
    return 0;
  }
  return fprintf(stderr, "there is no case '%s'\n", argv[1]), 2;
}
