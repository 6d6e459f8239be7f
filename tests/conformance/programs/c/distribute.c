// covers: distribute with dist_schedule, lastprivate, distribute parallel for, distribute simd
#include <stdio.h>

int main(void) {
  enum { N = 97 };
  int a[N], b[N], last = -1;
#pragma omp target teams num_teams(4) map(from : a)
#pragma omp distribute
  for (int i = 0; i < N; i++) a[i] = i * i;
#pragma omp target teams distribute num_teams(3) dist_schedule(static, 5) map(from : b) map(tofrom : last) \
    lastprivate(last)
  for (int i = 0; i < N; i++) {
    b[i] = 2 * i;
    last = i;
  }
  printf("%d\n", last);
#pragma omp target teams distribute simd map(tofrom : a)
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma omp target teams distribute parallel for simd num_teams(2) map(tofrom : b)
  for (int i = 0; i < N; i += 2) b[i] = -b[i];
  long sa = 0, sb = 0;
  for (int i = 0; i < N; i++) {
    sa += a[i] * (i + 1L);
    sb += b[i] * (i + 1L);
  }
  printf("%ld %ld\n", sa, sb);
  return 0;
}
