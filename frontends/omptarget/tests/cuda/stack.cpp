// A kernel whose functions need more stack than a thread has.
#include "device.h"

#pragma omp begin declare target
__attribute__((noinline)) int deep(int calls, int *end) {
  volatile int local[256];
  local[calls & 255] = calls;
  return (calls > 0 ? deep(calls - 1, end) : *end) + local[calls & 255];
}
#pragma omp end declare target

int main(int argc, char **) {
  int result = 1;
#pragma omp target map(tofrom : result) firstprivate(argc)
  result = deep(argc * 100000, &result);
}
