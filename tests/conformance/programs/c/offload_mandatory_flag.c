// covers: -fopenmp-offload-mandatory: no host version of the regions exists
// flags: -fopenmp-offload-mandatory
#include <stdio.h>

int main(void) {
  int x = 20;
#pragma omp target map(tofrom : x)
  x += 22;
  printf("%d\n", x);
  return 0;
}
