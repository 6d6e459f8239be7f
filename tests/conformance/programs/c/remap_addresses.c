// covers: the same host addresses mapped again and again with other sizes and offsets
#include <omp.h>
#include <stdio.h>

int main(void) {
  static int a[256];
  long sum = 0;
  for (int r = 0; r < 200; r++) {
    int from = r * 7 % 128, n = 1 + r * 13 % 100;
    for (int i = 0; i < n; i++) a[from + i] = r;
#pragma omp target enter data map(to : a[from : n])
#pragma omp target
    for (int i = 0; i < n; i++) a[from + i] += i;
    if (r % 2) {
#pragma omp target exit data map(from : a[from : n])
    } else {
#pragma omp target exit data map(delete : a[from : n])
    }
    for (int i = 0; i < n; i++) sum += a[from + i];
    if (omp_target_is_present(&a[from], 0)) printf("left behind at %d\n", r);
  }
  printf("%ld\n", sum);
  return 0;
}
