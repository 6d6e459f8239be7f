/* The temperature of a plate that is heated by wires and cooled by pipes.
 *
 * The steady heat equation on a grid, solved by red-black over-relaxation: the
 * plate goes to the device once, hundreds of pairs of kernels run on it inside
 * one `target data` region, and a reduction now and then says how far the
 * solution still is. The result is compared with a solver on the host and
 * drawn, isotherms included.
 *
 *   heat [PICTURE.png]
 */
#include "png.h"
#include <math.h>
#include <omp.h>

enum { WIDTH = 1600, HEIGHT = 640, CELLS = WIDTH * HEIGHT };
enum { SWEEPS_PER_CHECK = 50, MOST_SWEEPS = 5000 };

static const float tolerance = 2e-6f;

#pragma omp begin declare target
static const float relaxation = 1.93f;
/* What a cell loses to the air: the glow of a wire fades within some forty
 * cells. */
static const float loss = 2e-4f;
#pragma omp end declare target

/* ---- the plate ---------------------------------------------------------- */

typedef struct {
  float x0, y0, x1, y1;
} stroke;

/* The wires spell a word; every letter lives in a box 4 wide and 6 high. */
static const stroke letter_g[] = {{4, 1, 3, 0}, {3, 0, 1, 0}, {1, 0, 0, 1},
                                  {0, 1, 0, 5}, {0, 5, 1, 6}, {1, 6, 3, 6},
                                  {3, 6, 4, 5}, {4, 5, 4, 3}, {4, 3, 2.4f, 3}};
static const stroke letter_a[] = {{0, 6, 2, 0}, {2, 0, 4, 6}, {0.8f, 4, 3.2f, 4}};
static const stroke letter_n[] = {{0, 6, 0, 0}, {0, 0, 4, 6}, {4, 6, 4, 0}};
static const stroke letter_w[] = {{0, 0, 1, 6}, {1, 6, 2, 2}, {2, 2, 3, 6}, {3, 6, 4, 0}};
static const stroke letter_y[] = {{0, 0, 2, 3}, {4, 0, 2, 3}, {2, 3, 2, 6}};

typedef struct {
  const stroke *strokes;
  int count;
} letter;

#define LETTER(name) {letter_##name, sizeof letter_##name / sizeof(stroke)}
static const letter word[] = {LETTER(g), LETTER(a), LETTER(n), LETTER(g),
                              LETTER(w), LETTER(a), LETTER(y)};

static float distance_to(stroke s, float x, float y) {
  float dx = s.x1 - s.x0, dy = s.y1 - s.y0;
  float along = ((x - s.x0) * dx + (y - s.y0) * dy) / (dx * dx + dy * dy);
  along = fminf(fmaxf(along, 0.0f), 1.0f);
  return hypotf(x - s.x0 - along * dx, y - s.y0 - along * dy);
}

/* Fills in the start temperature and which cells keep it. */
static void lay_out(float *temperature, unsigned char *fixed) {
  const float scale = 40.0f, pitch = 212.0f, left = 84.0f, top = 200.0f;
  const float wire = 7.0f, pipe = 20.0f;
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x) {
      size_t cell = (size_t)y * WIDTH + x;
      int edge = x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1;
      temperature[cell] = edge ? 0.06f : 0.35f;
      fixed[cell] = edge;
      for (int i = 0; i < 7; ++i) {
        /* The wires of the outer letters run a little cooler. */
        float heat = 1.0f - 0.012f * (float)((i - 3) * (i - 3));
        for (int j = 0; j < word[i].count; ++j) {
          stroke s = word[i].strokes[j];
          s.x0 = left + pitch * i + scale * s.x0, s.x1 = left + pitch * i + scale * s.x1;
          s.y0 = top + scale * s.y0, s.y1 = top + scale * s.y1;
          if (distance_to(s, (float)x, (float)y) <= wire)
            temperature[cell] = heat, fixed[cell] = 1;
        }
      }
      for (int i = 0; i < 8; ++i) {
        float px = 58.0f + 212.0f * i;
        if (hypotf(x - px, y - 100.0f) <= pipe || hypotf(x - px, y - 540.0f) <= pipe)
          temperature[cell] = 0.0f, fixed[cell] = 1;
      }
    }
}

/* ---- the solver --------------------------------------------------------- */

#pragma omp begin declare target
/* What a cell lacks to be in balance with its four neighbours and the air. */
static inline float defect(const float *t, size_t cell) {
  float neighbours = t[cell - WIDTH] + t[cell + WIDTH] + t[cell - 1] + t[cell + 1];
  return 0.25f * (1.0f - loss) * neighbours - t[cell];
}
#pragma omp end declare target

/* Cells of one colour depend on the other colour only, so that the order in
 * which threads visit them changes nothing, to the last bit. */
static void relax_on_device(float *t, const unsigned char *fixed, int colour) {
#pragma omp target teams distribute parallel for map(t[0 : CELLS]) map(to : fixed[0 : CELLS])
  for (int y = 1; y < HEIGHT - 1; ++y)
    for (int x = 1 + (y + colour) % 2; x < WIDTH - 1; x += 2) {
      size_t cell = (size_t)y * WIDTH + x;
      if (!fixed[cell])
        t[cell] += relaxation * defect(t, cell);
    }
}

static float residual_on_device(const float *t, const unsigned char *fixed) {
  float largest = 0.0f;
#pragma omp target teams distribute parallel for map(to : t[0 : CELLS], fixed[0 : CELLS])          \
    map(largest) reduction(max : largest)
  for (int y = 1; y < HEIGHT - 1; ++y)
    for (int x = 1; x < WIDTH - 1; ++x) {
      size_t cell = (size_t)y * WIDTH + x;
      if (!fixed[cell])
        largest = fmaxf(largest, fabsf(defect(t, cell)));
    }
  return largest;
}

static int solve_on_device(float *t, const unsigned char *fixed) {
  int sweeps = 0;
  float residual = 1.0f;
#pragma omp target data map(tofrom : t[0 : CELLS]) map(to : fixed[0 : CELLS])
  while (residual > tolerance && sweeps < MOST_SWEEPS) {
    for (int i = 0; i < SWEEPS_PER_CHECK; ++i) {
      relax_on_device(t, fixed, 0);
      relax_on_device(t, fixed, 1);
    }
    sweeps += SWEEPS_PER_CHECK;
    residual = residual_on_device(t, fixed);
  }
  printf("device: %d sweeps, largest residual %.2e\n", sweeps, residual);
  return sweeps;
}

/* The same sweeps in plain C, as the reference. */
static void solve_on_host(float *t, const unsigned char *fixed, int sweeps) {
  for (int half = 0; half < 2 * sweeps; ++half)
    for (int y = 1; y < HEIGHT - 1; ++y)
      for (int x = 1 + (y + half) % 2; x < WIDTH - 1; x += 2) {
        size_t cell = (size_t)y * WIDTH + x;
        if (!fixed[cell])
          t[cell] += relaxation * defect(t, cell);
      }
}

/* ---- the picture -------------------------------------------------------- */

/* Colour by temperature, with a darker line where it passes an isotherm. */
static int draw(const char *path, const float *t) {
  const float isotherms = 20.0f;
  unsigned char *pixels = malloc(CELLS);
  if (!pixels)
    return -1;
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x) {
      size_t cell = (size_t)y * WIDTH + x;
      float shade = t[cell];
      int right = x + 1 < WIDTH && floorf(t[cell + 1] * isotherms) != floorf(shade * isotherms);
      int below = y + 1 < HEIGHT && floorf(t[cell + WIDTH] * isotherms) != floorf(shade * isotherms);
      if (right || below)
        shade *= 0.86f;
      pixels[cell] = (unsigned char)(fminf(fmaxf(shade, 0.0f), 1.0f) * 255.0f + 0.5f);
    }
  int status = png_write(path, pixels, WIDTH, HEIGHT);
  free(pixels);
  return status;
}

int main(int argc, char **argv) {
  float *device = malloc(CELLS * sizeof *device), *host = malloc(CELLS * sizeof *host);
  unsigned char *fixed = malloc(CELLS);
  if (!device || !host || !fixed) {
    fprintf(stderr, "heat: out of memory\n");
    return 1;
  }
  lay_out(device, fixed);
  memcpy(host, device, CELLS * sizeof *host);

  double start = omp_get_wtime();
  int sweeps = solve_on_device(device, fixed);
  double end = omp_get_wtime();
  solve_on_host(host, fixed, sweeps);
  printf("device %.2f s, one host thread %.2f s\n", end - start, omp_get_wtime() - end);

  float worst = 0.0f;
  for (int cell = 0; cell < CELLS; ++cell)
    worst = fmaxf(worst, fabsf(device[cell] - host[cell]));
  printf("largest difference from the host: %g\n", worst);
  /* Written so that a NaN fails as well. */
  int same = worst <= 1e-5f && sweeps < MOST_SWEEPS;

  if (argc > 1) {
    if (draw(argv[1], device) != 0) {
      fprintf(stderr, "heat: cannot write %s\n", argv[1]);
      return 1;
    }
    printf("picture: %s\n", argv[1]);
  }
  printf("heat: %s\n", same ? "OK" : "FAILED");
  free(device);
  free(host);
  free(fixed);
  return same ? 0 : 1;
}
