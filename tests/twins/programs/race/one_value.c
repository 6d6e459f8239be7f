// Half of the threads set a flag, all to the same, and the others read it: behind a barrier, or at once.
// with: openmp
#include <omp.h>
#include <stdio.h>

int main(void)
{
  int flag = 0, seen[64];
#pragma omp target map(tofrom: flag) map(from: seen)
#pragma omp parallel num_threads(64)
  {
    int thread = omp_get_thread_num();
    seen[thread] = 0;
    if (thread < 32)
      flag = 1;
#ifndef WRONG
#pragma omp barrier
#endif
    if (thread >= 32)
      seen[thread] = flag; // finds
  }
  printf("%d\n", flag + 0 * seen[40]);
  return 0;
}
