// covers: a small application: particles as a structure of arrays, several regions per step, host checks
#include <stdio.h>
#include <stdlib.h>

struct particles {
  int n;
  double *x, *v, *f;
};

static void step(struct particles *p, double dt) {
  double *x = p->x, *v = p->v, *f = p->f;
  const int n = p->n;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += (x[j] - x[i]) * 0.125;
    f[i] = sum;
  }
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++) {
    v[i] += f[i] * dt;
    x[i] += v[i] * dt;
  }
}

int main(void) {
  struct particles p = {24, calloc(24, 8), calloc(24, 8), calloc(24, 8)};
  for (int i = 0; i < p.n; i++) p.x[i] = i * i % 17;
  double *x = p.x, *v = p.v, *f = p.f;
#pragma omp target enter data map(to : x[0 : p.n], v[0 : p.n]) map(alloc : f[0 : p.n])
  for (int s = 0; s < 16; s++) {
    step(&p, 0.0625);
    if (s % 8 == 7) {
#pragma omp target update from(x[0 : 3])
      printf("%.9f %.9f %.9f\n", x[0], x[1], x[2]);
    }
  }
#pragma omp target exit data map(from : x[0 : p.n], v[0 : p.n]) map(delete : f[0 : p.n])
  double energy = 0;
  for (int i = 0; i < p.n; i++) energy += v[i] * v[i];
  printf("%.6f\n", energy);
  free(x), free(v), free(f);
  return 0;
}
