// covers: target teams loop, target parallel loop, bind, order(concurrent), tile and unroll
// flags: -fopenmp-version=51
#include <stdio.h>

int main(void) {
  enum { N = 96 };
  int a[N], sum = 0;
#pragma omp target teams loop map(from : a)
  for (int i = 0; i < N; i++) a[i] = i;
#pragma omp target parallel loop map(tofrom : a)
  for (int i = 0; i < N; i++) a[i] += 2;
#pragma omp target teams loop reduction(+ : sum) map(to : a)
  for (int i = 0; i < N; i++) sum += a[i];
  printf("%d\n", sum);
#pragma omp target teams distribute parallel for order(concurrent) map(tofrom : a)
  for (int i = 0; i < N; i++) a[i] *= 3;
#pragma omp target map(tofrom : a)
#pragma omp tile sizes(8)
  for (int i = 0; i < N; i++) a[i] -= 1;
  printf("%d %d\n", a[0], a[95]);
  return 0;
}
