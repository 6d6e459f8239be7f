// covers: target regions inside explicit tasks, taskloop, nested data environments per task
#include <stdio.h>

int main(void) {
  int v[12] = {0};
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskloop grainsize(1) shared(v)
    for (int i = 0; i < 12; i++) {
      int local = i;
#pragma omp target data map(tofrom : local)
      {
#pragma omp target
        local *= 3;
#pragma omp target map(always, tofrom : local)
        local += 1;
      }
      v[i] = local;
    }
  }
  for (int i = 0; i < 12; i++) printf("%d ", v[i]);
  printf("\n");
  return 0;
}
