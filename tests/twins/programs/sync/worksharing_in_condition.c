// A worksharing loop that only some threads of a team come to.
// with: openmp gcc
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int a[64] = {0};
#pragma omp target map(tofrom: a)
#pragma omp parallel num_threads(64)
  {
#ifdef WRONG
    if (omp_get_thread_num() % 64 < 4) {
#endif
#pragma omp for
      for (int i = 0; i < 64; ++i)
        a[i] = i;
#ifdef WRONG
    }
#endif
#pragma omp barrier // finds
#pragma omp single
    a[0] = 1;
  }
  printf("%d\n", a[3] >= 0);
  return 0;
}
