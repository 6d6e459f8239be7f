// covers: device(n) on every construct: each device has its own data environment
#include <omp.h>
#include <stdio.h>

int main(void) {
  int n = omp_get_num_devices(), a[8];
  printf("several devices: %d\n", n > 1);
  for (int i = 0; i < 8; i++) a[i] = i;
  for (int d = 0; d < n; d++) {
#pragma omp target enter data map(to : a) device(d)
#pragma omp target device(d)
    a[d] = 100 + d;
  }
  for (int d = 0; d < n; d++) {
    printf("%d: present %d\n", d, omp_target_is_present(a, d));
#pragma omp target update from(a) device(d)
    for (int i = 0; i < 8; i++) printf("%d ", i < n ? a[i] : 0);
    printf("\n");
    for (int i = 0; i < n; i++) a[i] = i;
  }
#pragma omp target exit data map(delete : a) device(0)
  for (int d = 0; d < n; d++) printf("%d: present %d\n", d, omp_target_is_present(a, d));
  for (int d = 1; d < n; d++) {
#pragma omp target data map(tofrom : a) device(d)
#pragma omp target device(d)
    a[7] += d;
#pragma omp target exit data map(from : a) device(d)
    printf("%d\n", a[7]);
  }
  return 0;
}
