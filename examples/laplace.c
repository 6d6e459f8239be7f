/* Laplace's equation by Jacobi iteration with OpenACC on the (virtual) GPU, through GCC or clang:
 * gangs take rows, vectors take columns, and a reduction says how much changed.
 * The host computes the same; maximum and sums of floats are exact enough to be equal.
 */
#include <math.h>
#include <openacc.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 96, SWEEPS = 60 };

static float plate[SIZE][SIZE], next[SIZE][SIZE], expected[SIZE][SIZE];

static void lay_out(float grid[SIZE][SIZE]) {
  memset(grid, 0, sizeof plate);
  for (int i = 0; i < SIZE; ++i)
    grid[0][i] = 100, grid[i][0] = (float)(100 * (SIZE - i)) / SIZE;
}

static float sweep_on_host(float from[SIZE][SIZE], float to[SIZE][SIZE]) {
  float change = 0;
  for (int i = 1; i < SIZE - 1; ++i)
    for (int j = 1; j < SIZE - 1; ++j) {
      to[i][j] = 0.25f * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
      change = fmaxf(change, fabsf(to[i][j] - from[i][j]));
    }
  return change;
}

int main(void) {
  float change = 0, wanted = 0;
  int on_device = 0;
  lay_out(plate), lay_out(next);
#pragma acc data copy(plate) copyin(next)
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    change = 0;
#pragma acc parallel loop gang reduction(max : change) copy(on_device)
    for (int i = 1; i < SIZE - 1; ++i) {
      on_device = acc_on_device(acc_device_not_host);
#pragma acc loop vector reduction(max : change)
      for (int j = 1; j < SIZE - 1; ++j) {
        next[i][j] = 0.25f * (plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1]);
        change = fmaxf(change, fabsf(next[i][j] - plate[i][j]));
      }
    }
#pragma acc parallel loop gang
    for (int i = 1; i < SIZE - 1; ++i)
#pragma acc loop vector
      for (int j = 1; j < SIZE - 1; ++j)
        plate[i][j] = next[i][j];
  }

  static float other[SIZE][SIZE];
  lay_out(expected), lay_out(other);
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    wanted = sweep_on_host(expected, other);
    memcpy(expected, other, sizeof other);
  }
  int wrong = 0;
  for (int i = 0; i < SIZE; ++i)
    for (int j = 0; j < SIZE; ++j)
      wrong += plate[i][j] != expected[i][j];
  printf("laplace: %d sweeps of %d x %d on %s, last change %g, %d wrong\n", SWEEPS, SIZE, SIZE,
         on_device ? "the device" : "the host", change, wrong);
  return wrong != 0 || change != wanted || !on_device;
}
