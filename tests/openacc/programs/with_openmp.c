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
  // Threads of the host have constructs of their own.
  long sums[4] = {0};
#pragma omp parallel for num_threads(4)
  for (int t = 0; t < 4; t++) {
    long sum = 0, *to = &sums[t];
#pragma acc data copyin(list)
    {
#pragma acc parallel loop reduction(+ : sum) async(t)
      for (int i = 0; i < 100; i++) sum += list[i] * (t + 1);
#pragma acc wait(t)
    }
    *to = sum;
  }
  for (int t = 0; t < 4; t++)
    if (sums[t] != 9900 * (t + 1)) return printf("sums[%d] is %ld\n", t, sums[t]), 1;
  puts("ok");
  return 0;
}
