/* Heat in a plate that does not fit into one queue: OpenACC's asynchronous queues.
 *
 * The plate is cut into strips. Each strip has a queue, in which its steps come one after the
 * other. A step of a strip reads the rows at its edges that its neighbours wrote in the step
 * before, so its queue waits for theirs; nothing else is waited for until the end. Every so many
 * steps the middle row is copied back beside the computation.
 *
 * The solution is known: the lowest wave of the plate decays by the same factor in each step.
 *
 *   gcc -O2 -fopenacc -foffload=nvptx-none heat_acc.c -o heat_acc -lm
 *   gangway cc -O2 -g -fopenacc --offload-arch=sm_80 heat_acc.c -o heat_acc -lm     # or with clang
 *   gangway run --device vgpu --report -- ./heat_acc [side [steps]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRIPS = 4, SNAPSHOTS = 4 };

static const double PI = 3.14159265358979323846;

/* One step of the rows from first to last, from one grid into the other, in a queue. */
static void step(const double *restrict from, double *restrict to, int side, int first, int last, int queue)
{
  int cells = (side + 2) * (side + 2);
#pragma acc parallel loop gang vector collapse(2) present(from[0:cells], to[0:cells]) async(queue)
  for (int y = first; y <= last; ++y)
    for (int x = 1; x <= side; ++x) {
      int i = y * (side + 2) + x;
      to[i] = from[i] + 0.2 * (from[i - 1] + from[i + 1] + from[i - side - 2] + from[i + side + 2] - 4 * from[i]);
    }
}

int main(int argc, char **argv)
{
  int side = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 40;
  if (side < STRIPS || steps < SNAPSHOTS) {
    fprintf(stderr, "usage: %s [side [steps]], at least %d and %d\n", argv[0], STRIPS, SNAPSHOTS);
    return 2;
  }
  int row = side + 2, cells = row * row, every = steps / SNAPSHOTS;
  double *grid[2] = {calloc(cells, sizeof(double)), calloc(cells, sizeof(double))};
  double *a = grid[0], *b = grid[1];
  if (!a || !b)
    return 2;
  for (int y = 1; y <= side; ++y)
    for (int x = 1; x <= side; ++x)
      a[y * row + x] = sin(PI * x / (side + 1)) * sin(PI * y / (side + 1));
  double start = a[(side / 2) * row + side / 2], factor = 1 - 0.8 * (1 - cos(PI / (side + 1)));
  double worst = 0;

#pragma acc enter data copyin(a[0:cells], b[0:cells])
  for (int done = 0; done < steps; ++done) {
    double *from = grid[done % 2], *to = grid[(done + 1) % 2];
    for (int strip = 0; strip < STRIPS; ++strip) {
      /* What the neighbours read of the other grid they have read, and what they wrote is there. */
      if (strip > 0) {
#pragma acc wait(strip - 1) async(strip)
      }
      if (strip + 1 < STRIPS && done > 0) {
#pragma acc wait(strip + 1) async(strip)
      }
      step(from, to, side, 1 + side * strip / STRIPS, side * (strip + 1) / STRIPS, strip);
    }
    if ((done + 1) % every == 0) {
      double *middle = to + (side / 2) * row;
#pragma acc wait(0, 1, 2, 3) async(STRIPS)
#pragma acc update self(middle[0:row]) async(STRIPS)
#pragma acc wait(STRIPS)
      double expected = start * pow(factor, done + 1);
      double off = fabs(middle[side / 2] - expected);
      if (off > worst)
        worst = off;
      printf("step %3d: %.9f in the middle, %.9f expected\n", done + 1, middle[side / 2], expected);
    }
  }
#pragma acc wait
#pragma acc exit data delete(a[0:cells], b[0:cells])
  free(a);
  free(b);
  printf("%s: largest error %.1e\n", worst < 1e-9 ? "passed" : "FAILED", worst);
  return worst < 1e-9 ? 0 : 1;
}
