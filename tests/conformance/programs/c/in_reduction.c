// covers: task reductions around regions, target regions inside a taskgroup with a reduction
#include <stdio.h>

int main(void) {
  int total = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : total)
  for (int i = 0; i < 12; i++) {
#pragma omp task in_reduction(+ : total) firstprivate(i)
    {
      int part = 0;
#pragma omp target map(tofrom : part)
      for (int k = 0; k <= i; k++) part += k;
      total += part;
    }
  }
  printf("%d\n", total);
  return 0;
}
