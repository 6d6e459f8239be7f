// covers: inclusive and exclusive scans on the device, a bitonic sort made of many small regions
// flags: -lm -Xoffload-linker -lm
#include <stdio.h>

int main(void) {
  enum { N = 128 };
  static int a[N], inclusive[N], exclusive[N], s[N];
  for (int i = 0; i < N; i++) {
    a[i] = i * 7 % 13;
    s[i] = i * 37 % 128;
  }
  int sum = 0;
#pragma omp target map(to : a) map(from : inclusive, exclusive) map(tofrom : sum)
  {
#pragma omp parallel for simd reduction(inscan, + : sum)
    for (int i = 0; i < N; i++) {
      sum += a[i];
#pragma omp scan inclusive(sum)
      inclusive[i] = sum;
    }
    sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int i = 0; i < N; i++) {
      exclusive[i] = sum;
#pragma omp scan exclusive(sum)
      sum += a[i];
    }
  }
  printf("%d %d %d %d\n", inclusive[0], inclusive[N - 1], exclusive[0], exclusive[N - 1]);
#pragma omp target data map(tofrom : s)
  for (int k = 2; k <= N; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++) {
        int o = i ^ j;
        if (o > i && (i & k ? s[i] < s[o] : s[i] > s[o])) {
          int t = s[i];
          s[i] = s[o];
          s[o] = t;
        }
      }
    }
  int sorted = 1;
  for (int i = 0; i < N; i++) sorted &= s[i] == i;
  printf("sorted %d\n", sorted);
  return 0;
}
