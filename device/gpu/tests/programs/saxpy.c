// A loop that the runtime leaves nothing of itself in.
#include "check.h"

int main(void) {
  enum { N = 100000 };
  float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), a = 2;
  for (int i = 0; i < N; ++i)
    x[i] = i, y[i] = 1;
#pragma omp target teams distribute parallel for map(to : x[:N]) map(tofrom : y[:N])
  for (int i = 0; i < N; ++i)
    y[i] += a * x[i];
  for (int i = 0; i < N; ++i)
    CHECK(y[i], 2 * i + 1);
  free(x), free(y);
  return finish();
}
