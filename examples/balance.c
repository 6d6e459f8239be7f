/* 100 independent regions, called by as many host threads as there are devices: how long do they take?
 *
 *   gangway cc -O2 -fopenmp --offload-arch=sm_80 examples/balance.c -o balance
 *   export GANGWAY_BALANCE=1 GANGWAY_VGPU_WORKERS=1 GANGWAY_VGPU_KERNELS=1
 *   GANGWAY_VGPU_DEVICES=1 gangway run --device vgpu ./balance
 *   GANGWAY_VGPU_DEVICES=2 gangway run --device vgpu ./balance
 *
 * No region names a device. With GANGWAY_BALANCE each goes to the one with the least to do
 * (docs/several-devices.md). */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REGIONS = 100, N = 20000, STEPS = 2000, ROUNDS = 5 };

static void advance(double *data, int steps) {
#pragma omp target teams distribute parallel for map(tofrom : data[0 : N])
  for (int i = 0; i < N; i++) {
    double x = data[i];
    for (int step = 0; step < steps; step++)
      x = x * 0.5 + 1;
    data[i] = x;
  }
}

int main(void) {
  int devices = omp_get_num_devices();
  double *data[REGIONS], best = 1e9, *used = malloc(N * sizeof *used);
  for (int r = 0; r < REGIONS; r++)
    data[r] = malloc(N * sizeof *data[r]);
  /* Every device loads its code before the clock runs. */
  for (int device = 0; device < devices; device++) {
#pragma omp target map(alloc : used[0 : N]) device(device)
    used[0] = 0;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int r = 0; r < REGIONS; r++)
      for (int i = 0; i < N; i++)
        data[r][i] = r + i;
    double start = omp_get_wtime();
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int r = 0; r < REGIONS; r++)
      advance(data[r], STEPS);
    double time = omp_get_wtime() - start;
    best = time < best ? time : best;
  }
  for (int r = 0; r < REGIONS; r++)
    for (int i = 0; i < N; i++)
      if (data[r][i] < 1.999999 || data[r][i] > 2.000001) {
        printf("wrong: data[%d][%d] is %g\n", r, i, data[r][i]);
        return 1;
      }
  printf("%d regions on %d device%s: %.0f ms\n", REGIONS, devices, devices == 1 ? "" : "s", best * 1e3);
  return 0;
}
