// covers: target enter data, exit data and update with nowait and depend, a region between them
#include <stdio.h>

int main(void) {
  enum { N = 1000 };
  static double x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i;
#pragma omp target enter data map(to : x) map(alloc : y) nowait depend(out : x, y)
#pragma omp target teams distribute parallel for nowait depend(in : x) depend(inout : y)
  for (int i = 0; i < N; i++) y[i] = x[i] * 0.5;
#pragma omp target update from(y[10 : 5]) nowait depend(inout : y)
#pragma omp taskwait
  printf("%g %g %g\n", y[9], y[10], y[14]);
  x[0] = 77;
#pragma omp target update to(x[0 : 1]) nowait depend(out : x)
#pragma omp target nowait depend(in : x) depend(inout : y)
  y[0] = x[0];
#pragma omp target exit data map(from : y) map(release : x) nowait depend(inout : x, y)
#pragma omp taskwait
  double sum = 0;
  for (int i = 0; i < N; i++) sum += y[i];
  printf("%g %g\n", y[0], sum);
  return 0;
}
