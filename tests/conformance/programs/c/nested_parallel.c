// covers: nested parallel regions on the device, tasks on the device, levels, num_threads per level
#include <omp.h>
#include <stdio.h>

int main(void) {
  int count = 0, level = 0, deep = 0, tasks = 0;
#pragma omp target map(tofrom : count, level, deep, tasks)
  {
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(3)
      {
#pragma omp atomic
        count++;
#pragma omp single
        if (omp_get_ancestor_thread_num(1) == 0) {
          level = omp_get_level();
          deep = omp_get_num_threads();
        }
      }
    }
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 1; i <= 10; i++) {
#pragma omp task firstprivate(i) shared(tasks)
      {
#pragma omp atomic
        tasks += i;
      }
    }
  }
  printf("%d %d %d %d\n", count, level, deep, tasks);
  return 0;
}
