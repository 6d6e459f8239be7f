// covers: the offload library given with LD_PRELOAD
// preload: yes
#include <omp.h>
#include <stdio.h>

#pragma omp declare target
int global = 3;
#pragma omp end declare target

int main(void) {
  int a[10], sum = 0;
  for (int i = 0; i < 10; i++) a[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : a) reduction(+ : sum)
  for (int i = 0; i < 10; i++) {
    a[i] *= global;
    sum += a[i];
  }
  printf("%d %d %d\n", a[9], sum, omp_get_num_devices() > 0);
  return 0;
}
