// covers: target nowait whose region has parallel regions and tasks of its own, waited for with taskyield
#include <stdio.h>

int main(void) {
  int sums[6] = {0}, done = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 6; i++) {
#pragma omp target nowait map(tofrom : sums[i : 1]) firstprivate(i) depend(out : sums[i])
      {
        int sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
        for (int k = 0; k < 100; k++) sum += k * (i + 1);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task shared(sum)
          sum += 1;
        }
        sums[i] = sum;
      }
    }
#pragma omp task depend(in : sums[5]) shared(done)
#pragma omp atomic write
    done = 1;
    for (int seen = 0; !seen;) {
#pragma omp taskyield
#pragma omp atomic read
      seen = done;
    }
#pragma omp taskwait
  }
  for (int i = 0; i < 6; i++) printf("%d ", sums[i]);
  printf("\n");
  return 0;
}
