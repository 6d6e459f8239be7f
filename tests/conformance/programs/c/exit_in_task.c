// covers: exit(3) from inside a task after target nowait regions, without a taskwait
// status: 3
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static int a[8];
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 8; i++) {
#pragma omp target nowait map(tofrom : a[i : 1]) depend(inout : a[0]) firstprivate(i)
      a[i] = i;
    }
#pragma omp task depend(in : a[0])
    {
      printf("in the task: %d\n", a[7]);
      exit(3);
    }
  }
  return 0;
}
