// A region of the host that a kernel waits for: it comes behind what the kernel has come behind.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

#pragma omp requires reverse_offload

int main(void)
{
  int code = 1, sum = 0;
#ifdef WRONG
#pragma omp target map(tofrom: code, sum) nowait
#else
#pragma omp target map(tofrom: code, sum)
#endif
  {
    sum = code;
#pragma omp target device(ancestor: 1) map(always, tofrom: code)
    code = 20;
    sum += code;
  }
  sum += 1; // finds
#pragma omp taskwait
  printf("%d %d\n", code, sum);
  return 0;
}
