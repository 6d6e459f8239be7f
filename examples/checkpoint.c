/* A solver that stays on the device, and has the host keep its log and its checkpoints.
 *
 * One target region holds the whole iteration: red-black over-relaxation of the potential
 * between two electrodes. Every hundred sweeps the device code has the host print a line, and
 * every two hundred it has the host write the grid to a file: reverse offload, OpenMP's
 * `target device(ancestor: 1)`. Nothing of the grid is copied for a line of the log.
 *
 * A second run starts from the file that the first one left halfway. Both must end with the
 * same grid to the last bit, and with that of a solver on the host but for rounding: GPUs fuse
 * multiplications and additions (docs/arithmetic.md).
 *
 *   checkpoint [FILE]
 */
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp requires reverse_offload

enum { WIDTH = 192, HEIGHT = 128, CELLS = WIDTH * HEIGHT };
enum { SWEEPS = 800, LOG_EVERY = 100, SAVE_EVERY = 200, HALFWAY = 400 };

#pragma omp begin declare target
static const float relaxation = 1.9f;

/* Two plates whose potential stays; a cell is outside of both otherwise. */
static inline int is_plate(int x, int y) {
  return (x == WIDTH / 3 || x == 2 * WIDTH / 3) && y > HEIGHT / 5 && y < 4 * HEIGHT / 5;
}

/* What a cell lacks to be the mean of its neighbours. */
static inline float defect(const float *t, int x, int y) {
  const float *cell = t + y * WIDTH + x;
  return 0.25f * (cell[-WIDTH] + cell[WIDTH] + cell[-1] + cell[1]) - *cell;
}

/* Cells of one colour depend on the other colour only: their order changes nothing. */
static inline void relax_row(float *t, int y, int colour) {
  for (int x = 1 + (y + colour) % 2; x < WIDTH - 1; x += 2)
    if (!is_plate(x, y))
      t[y * WIDTH + x] += relaxation * defect(t, x, y);
}

static inline float largest_defect(const float *t, int y) {
  float largest = 0.0f;
  for (int x = 1; x < WIDTH - 1; ++x)
    if (!is_plate(x, y))
      largest = fmaxf(largest, fabsf(defect(t, x, y)));
  return largest;
}
#pragma omp end declare target

static void lay_out(float *t) {
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x)
      t[y * WIDTH + x] = !is_plate(x, y) ? 0.0f : x < WIDTH / 2 ? 1.0f : -1.0f;
}

/* ---- what the host does for the device ---------------------------------- */

struct checkpoint {
  char format[8];
  int width, height, sweeps;
};

static const struct checkpoint start = {"GWCHECK", WIDTH, HEIGHT, 0};
static int lines, files;

static void report(int sweep, float largest) {
  printf("  sweep %4d: largest defect %.3e\n", sweep, largest);
  lines++;
}

static void fail(const char *what, const char *file) {
  fprintf(stderr, "checkpoint: cannot %s %s: %s\n", what, file, strerror(errno));
  exit(EXIT_FAILURE);
}

/* A file that is not complete never has the name of one that is. */
static void save(const char *file, const float *t, int sweeps) {
  struct checkpoint head = start;
  char draft[4096];
  head.sweeps = sweeps;
  snprintf(draft, sizeof draft, "%s.part", file);
  FILE *out = fopen(draft, "wb");
  if (!out || fwrite(&head, sizeof head, 1, out) != 1 || fwrite(t, sizeof *t, CELLS, out) != CELLS ||
      fclose(out) != 0)
    fail("write", draft);
  if (rename(draft, file) != 0)
    fail("rename", draft);
  files++;
}

static int load(const char *file, float *t) {
  struct checkpoint head;
  FILE *in = fopen(file, "rb");
  if (!in)
    fail("open", file);
  if (fread(&head, sizeof head, 1, in) != 1 || memcmp(head.format, start.format, sizeof head.format) != 0 ||
      head.width != WIDTH || head.height != HEIGHT || fread(t, sizeof *t, CELLS, in) != CELLS) {
    fprintf(stderr, "checkpoint: %s is no checkpoint of this program\n", file);
    exit(EXIT_FAILURE);
  }
  fclose(in);
  return head.sweeps;
}

/* ---- the solver --------------------------------------------------------- */

/* Sweeps from `first` to the end on the device; saves up to `last_saved` sweeps. Says whether the
 * region ran on a device. */
static int solve(float *t, int first, int last_saved, const char *file) {
  int on_device = 0;
#pragma omp target map(tofrom : t[0 : CELLS]) map(from : on_device)
  {
    on_device = !omp_is_initial_device();
    for (int sweep = first + 1; sweep <= SWEEPS; ++sweep) {
      for (int colour = 0; colour < 2; ++colour) {
#pragma omp parallel for
        for (int y = 1; y < HEIGHT - 1; ++y)
          relax_row(t, y, colour);
      }
      if (sweep % LOG_EVERY == 0) {
        float largest = 0.0f;
#pragma omp parallel for reduction(max : largest)
        for (int y = 1; y < HEIGHT - 1; ++y)
          largest = fmaxf(largest, largest_defect(t, y));
        /* Two numbers go to the host. */
#pragma omp target device(ancestor : 1)
        report(sweep, largest);
      }
      if (sweep % SAVE_EVERY == 0 && sweep <= last_saved) {
        /* The host's grid is brought up to date, and saved. */
#pragma omp target device(ancestor : 1) map(always, to : t[0 : CELLS])
        save(file, t, sweep);
      }
    }
  }
  return on_device;
}

static void solve_on_host(float *t) {
  for (int half = 0; half < 2 * SWEEPS; ++half)
    for (int y = 1; y < HEIGHT - 1; ++y)
      relax_row(t, y, half % 2);
}

/* How many cells differ by more than the tolerance. */
static int differ(const char *what, const float *t, const float *expected, float tolerance) {
  int cells = 0;
  float largest = 0.0f;
  for (int cell = 0; cell < CELLS; ++cell) {
    float difference = fabsf(t[cell] - expected[cell]);
    cells += !(difference <= tolerance);
    largest = fmaxf(largest, difference);
  }
  printf("%s: %d of %d cells differ, at most by %.1e\n", what, cells, CELLS, largest);
  return cells;
}

int main(int argc, char **argv) {
  const char *file = argc > 1 ? argv[1] : "checkpoint.data";
  static float t[CELLS], whole[CELLS], expected[CELLS];
  /* Of potentials between -1 and 1; the iteration corrects what rounding has done. */
  const float rounding = 1e-4f;
  int wrong = 0;
  lay_out(expected);
  solve_on_host(expected);

  printf("from the start:\n");
  lay_out(t);
  wrong += !solve(t, 0, HALFWAY, file);
  wrong += differ("from the start, and on the host", t, expected, rounding);
  if (lines != SWEEPS / LOG_EVERY || files != HALFWAY / SAVE_EVERY) {
    printf("the host wrote %d lines and %d files\n", lines, files);
    wrong++;
  }

  memcpy(whole, t, sizeof t);
  memset(t, 0, sizeof t);
  int first = load(file, t);
  printf("from %s, after %d sweeps:\n", file, first);
  wrong += first != HALFWAY || !solve(t, first, 0, file);
  wrong += differ("from the checkpoint, and from the start", t, whole, 0.0f);

  printf("%s: %d lines of log, %d checkpoints\n", wrong ? "WRONG" : "right", lines, files);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
