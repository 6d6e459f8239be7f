// covers: target nowait with depend chains (in, out, inout), taskwait, host tasks between target tasks
#include <stdio.h>

int main(void) {
  int a[100], b[100], c[100], sum = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : a) shared(a)
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp target nowait depend(in : a) depend(out : b) map(to : a) map(from : b)
    for (int i = 0; i < 100; i++) b[i] = a[i] * 2;
#pragma omp target nowait depend(in : a) depend(out : c) map(to : a) map(from : c)
    for (int i = 0; i < 100; i++) c[i] = a[i] + 7;
#pragma omp task depend(inout : b) shared(b)
    b[0] = 1000;
#pragma omp target nowait depend(in : b, c) depend(inout : sum) map(to : b, c) map(tofrom : sum)
    for (int i = 0; i < 100; i++) sum += b[i] - c[i];
#pragma omp taskwait
    printf("%d\n", sum);
    for (int step = 0; step < 20; step++) {
#pragma omp target nowait depend(inout : sum) map(tofrom : sum)
      sum = sum * 3 % 1009 + step;
    }
#pragma omp taskwait depend(in : sum)
    printf("%d\n", sum);
  }
  return 0;
}
