/* Bodies that attract each other, with OpenACC: gangs and vectors, attached pointers, reductions.
 *
 * The bodies are a structure of arrays whose pointers are attached on the device. Positions and
 * velocities stay there for all steps; the host asks for the energy and the momentum only, which
 * are sums over all bodies. Momentum must stay what it was, and energy nearly so.
 *
 *   gcc -O2 -fopenacc -foffload=nvptx-none -foffload=-lm nbody_acc.c -o nbody_acc -lm
 *   gangway cc -O2 -g -fopenacc --offload-arch=sm_80 nbody_acc.c -o nbody_acc -lm     # or with clang
 *   gangway run --device vgpu --report -- ./nbody_acc [bodies [steps]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int count;
  double *x, *y, *z, *u, *v, *w;
} Bodies;

static const double SOFTENING = 0.05, STEP = 0.001;

static void make(Bodies *bodies, int count)
{
  double *memory = malloc(6 * count * sizeof(double));
  if (!memory)
    exit(2);
  *bodies = (Bodies){count,          memory,           memory + count,    memory + 2 * count,
                     memory + 3 * count, memory + 4 * count, memory + 5 * count};
  unsigned random = 12345;
  for (int i = 0; i < 6 * count; ++i) {
    random = random * 1664525u + 1013904223u;
    memory[i] = (random >> 8) / (double)(1 << 24) - 0.5;
  }
}

/* Half a step of the velocities, then a step of the positions. */
static void advance(Bodies *bodies)
{
  int count = bodies->count;
#pragma acc parallel present(bodies[0:1])
  {
#pragma acc loop gang
    for (int i = 0; i < count; ++i) {
      double fx = 0, fy = 0, fz = 0;
#pragma acc loop vector reduction(+ : fx, fy, fz)
      for (int j = 0; j < count; ++j) {
        double dx = bodies->x[j] - bodies->x[i], dy = bodies->y[j] - bodies->y[i];
        double dz = bodies->z[j] - bodies->z[i];
        double square = dx * dx + dy * dy + dz * dz + SOFTENING;
        double force = 1 / (square * sqrt(square));
        fx += force * dx, fy += force * dy, fz += force * dz;
      }
      bodies->u[i] += STEP * fx / count;
      bodies->v[i] += STEP * fy / count;
      bodies->w[i] += STEP * fz / count;
    }
  }
#pragma acc parallel loop present(bodies[0:1])
  for (int i = 0; i < count; ++i) {
    bodies->x[i] += STEP * bodies->u[i];
    bodies->y[i] += STEP * bodies->v[i];
    bodies->z[i] += STEP * bodies->w[i];
  }
}

typedef struct {
  double energy, momentum[3];
} Sums;

static Sums sum(Bodies *bodies)
{
  int count = bodies->count;
  double energy = 0, px = 0, py = 0, pz = 0;
#pragma acc parallel loop gang vector reduction(+ : energy, px, py, pz) present(bodies[0:1])
  for (int i = 0; i < count; ++i) {
    double u = bodies->u[i], v = bodies->v[i], w = bodies->w[i], potential = 0;
    for (int j = 0; j < count; ++j) {
      double dx = bodies->x[j] - bodies->x[i], dy = bodies->y[j] - bodies->y[i];
      double dz = bodies->z[j] - bodies->z[i];
      if (j != i)
        potential -= 1 / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
    }
    energy += (u * u + v * v + w * w) / 2 + potential / (2 * count);
    px += u, py += v, pz += w;
  }
  return (Sums){energy / count, {px / count, py / count, pz / count}};
}

int main(int argc, char **argv)
{
  int count = argc > 1 ? atoi(argv[1]) : 256, steps = argc > 2 ? atoi(argv[2]) : 10;
  if (count < 2 || steps < 1) {
    fprintf(stderr, "usage: %s [bodies [steps]]\n", argv[0]);
    return 2;
  }
  Bodies bodies, *all = &bodies;
  make(all, count);
  Sums before, after;
#pragma acc enter data copyin(all[0:1])
#pragma acc enter data copyin(all->x[0:count], all->y[0:count], all->z[0:count])
#pragma acc enter data copyin(all->u[0:count], all->v[0:count], all->w[0:count])
  before = sum(all);
  for (int done = 0; done < steps; ++done)
    advance(all);
  after = sum(all);
#pragma acc exit data copyout(all->x[0:count], all->y[0:count], all->z[0:count])
#pragma acc exit data copyout(all->u[0:count], all->v[0:count], all->w[0:count])
#pragma acc exit data delete(all[0:1])
  double drift = fabs(after.energy - before.energy) / fabs(before.energy), momentum = 0;
  for (int k = 0; k < 3; ++k)
    momentum = fmax(momentum, fabs(after.momentum[k] - before.momentum[k]));
  int right = drift < 1e-3 && momentum < 1e-12 && after.energy != before.energy;
  printf("%d bodies, %d steps: energy %.9f, off by %.1e; momentum off by %.1e\n", count, steps, after.energy, drift,
         momentum);
  puts(right ? "passed" : "FAILED");
  free(bodies.x);
  return !right;
}
