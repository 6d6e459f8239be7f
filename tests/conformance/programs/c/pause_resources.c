// covers: omp_pause_resource_all between regions; mapped data survives a soft pause of the host
#include <omp.h>
#include <stdio.h>

static int run(int x) {
#pragma omp target teams distribute parallel for map(tofrom : x)
  for (int i = 0; i < 10; i++) {
#pragma omp atomic
    x += i;
  }
  return x;
}

int main(void) {
  int first = run(1);
  int soft = omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  int second = run(2);
  int hard = omp_pause_resource_all(omp_pause_hard);
  int third = run(3);
  printf("%d %d %d, pause %d %d\n", first, second, third, soft, hard);
  return 0;
}
