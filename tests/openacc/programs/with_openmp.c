// options: -fopenmp
// OpenMP and OpenACC in one program share devices and data.
#include <omp.h>
#include <openacc.h>
#include <stdio.h>

int main(void) {
  int list[100];
  for (int i = 0; i < 100; i++) list[i] = i;
#pragma acc data copy(list)
  {
#pragma omp target teams distribute parallel for map(tofrom : list)
    for (int i = 0; i < 100; i++) list[i] *= 2;
#pragma acc parallel loop
    for (int i = 0; i < 100; i++) list[i] += 1;
  }
#pragma omp parallel for
  for (int i = 0; i < 100; i++) list[i] -= 1;
  for (int i = 0; i < 100; i++)
    if (list[i] != 2 * i) return printf("list[%d] is %d\n", i, list[i]), 1;
  puts("ok");
  return 0;
}
