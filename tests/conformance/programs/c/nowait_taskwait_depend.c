// covers: taskwait with depend and nowait on target tasks, dependences between devices and host tasks
// flags: -fopenmp-version=51
#include <omp.h>
#include <stdio.h>

int main(void) {
  int a[4] = {1, 2, 3, 4}, b[4] = {0}, c[4] = {0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait device(0) map(to : a) map(from : b) depend(in : a) depend(out : b)
    for (int i = 0; i < 4; i++) b[i] = a[i] * 10;
#pragma omp target nowait device(1) map(to : a) map(from : c) depend(in : a) depend(out : c)
    for (int i = 0; i < 4; i++) c[i] = a[i] + 100;
#pragma omp taskwait depend(in : b)
    printf("%d %d\n", b[0], b[3]);
#pragma omp task depend(inout : c) shared(c)
    c[0]++;
#pragma omp target nowait device(2) map(tofrom : c) depend(inout : c)
    for (int i = 0; i < 4; i++) c[i] *= 2;
#pragma omp taskwait
  }
  printf("%d %d\n", c[0], c[3]);
  return 0;
}
