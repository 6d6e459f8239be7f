// covers: declare target globals have one copy for each device
#include <omp.h>
#include <stdio.h>

#pragma omp declare target
int mine = 1;
#pragma omp end declare target

int main(void) {
  int devices = omp_get_num_devices();
  for (int d = 0; d < devices; d++) {
#pragma omp target device(d)
    mine += 10 * (d + 1);
  }
  for (int d = 0; d < devices; d++) {
    int got = 0;
#pragma omp target device(d) map(from : got)
    got = mine;
    printf("device %d: %d\n", d, got);
  }
  printf("host: %d\n", mine);
  for (int d = devices - 1; d >= 0; d--) {
#pragma omp target update from(mine) device(d)
    printf("update from %d: %d\n", d, mine);
  }
  return 0;
}
