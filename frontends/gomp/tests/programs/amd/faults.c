/* Kernels that fail. */
#include <string.h>

static int numbers[1000];

int main(int argc, char **argv)
{
  int *pointer = numbers, at = 1000 + argc;
  if (argc > 1 && strcmp(argv[1], "null") == 0) {
#pragma omp target map(tofrom : at)
    at = *(volatile int *)8;
  } else if (argc > 1 && strcmp(argv[1], "host") == 0) {
#pragma omp target map(to : at) firstprivate(pointer)
    ((volatile int *)pointer)[at - 1000] = 1;
  } else {
#pragma omp target map(tofrom : numbers) map(to : at)
    ((volatile int *)numbers)[at + 100000] = 1;
  }
  return 0;
}
