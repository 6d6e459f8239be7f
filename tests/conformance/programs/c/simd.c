// covers: target simd, declare simd functions, safelen, aligned, reductions in simd
#include <stdio.h>

#pragma omp begin declare target
#pragma omp declare simd uniform(k)
static float scale(float x, float k) { return x * k + 1; }
#pragma omp end declare target

int main(void) {
  enum { N = 256 };
  static float x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i;
#pragma omp target simd map(to : x) map(from : y) safelen(8)
  for (int i = 0; i < N; i++) y[i] = scale(x[i], 0.5f);
  float sum = 0;
#pragma omp target parallel for simd reduction(+ : sum) map(to : y)
  for (int i = 0; i < N; i++) sum += y[i];
  printf("%g %g\n", y[255], sum);
#pragma omp target map(tofrom : y)
#pragma omp simd simdlen(4)
  for (int i = 0; i < N - 4; i++) y[i] = i;
  printf("%g %g\n", y[251], y[252]);
  return 0;
}
