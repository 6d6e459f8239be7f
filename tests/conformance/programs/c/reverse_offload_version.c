// covers: reverse offload in a file of OpenMP 5.2, whose clause and macro are not those of the default version
// flags: -fopenmp-version=52
// stock: unusable because reverse offload is not in it
// translated: yes
#include <omp.h>
#include <stdio.h>

#pragma omp requires reverse_offload

static int calls;

#if _OPENMP == 202111
static void of_host(int value) { calls += value; }
#pragma omp declare target enter(of_host) device_type(host)
#endif

int main(void) {
  int values[4] = {1, 2, 3, 4};
#pragma omp target map(tofrom : values)
  for (int i = 0; i < 4; i++) {
    values[i] *= 10;
#pragma omp target device(ancestor : 1) map(always, to : values[i : 1])
    of_host(values[i]);
  }
  printf("%d %d\n", values[3], calls);
  return 0;
}
