// covers: depend with iterators, mutexinoutset, and an undeferred target task (if(0) task)
#include <stdio.h>

int main(void) {
  int a[8] = {0}, total = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 8; i++) {
#pragma omp target nowait depend(out : a[i]) map(tofrom : a[i : 1]) firstprivate(i)
      a[i] = i + 1;
    }
#pragma omp target nowait depend(iterator(int k = 0 : 8), in : a[k]) depend(out : total) \
    map(to : a) map(tofrom : total)
    for (int i = 0; i < 8; i++) total += a[i];
#pragma omp target depend(inout : total) map(tofrom : total)
    total *= 10;
    printf("%d\n", total);
  }
  return 0;
}
