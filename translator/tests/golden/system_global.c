#include <stdio.h>

#pragma omp requires reverse_offload

FILE *own;

void inside(int x) {
#pragma omp target
  {
#pragma omp target device(ancestor : 1)
    {
      fprintf(stderr, "%d\n", x);
      fflush(stdout);
      fclose(own);
    }
  }
}
