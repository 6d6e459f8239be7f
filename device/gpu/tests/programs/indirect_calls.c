// The host's address of a function leads to the device's. clang-22 does not ask by itself where device
// code calls through a pointer; programs can.
#include "check.h"

#pragma omp begin declare target indirect
int twice(int x) { return 2 * x; }
int square(int x) { return x * x; }
#pragma omp end declare target

#pragma omp begin declare target
void *__llvm_omp_indirect_call_lookup(void *function);
#pragma omp end declare target
#pragma omp begin declare variant match(device = {kind(host)})
void *__llvm_omp_indirect_call_lookup(void *function) { return function; }
#pragma omp end declare variant

typedef int (*Function)(int);

int main(void) {
  Function table[] = {twice, square, twice};
  int results[3] = {0};
#pragma omp target teams distribute parallel for map(to : table) map(from : results)
  for (int i = 0; i < 3; ++i)
    results[i] = ((Function)__llvm_omp_indirect_call_lookup((void *)table[i]))(i + 3);
  CHECK(results[0], 6);
  CHECK(results[1], 16);
  CHECK(results[2], 10);
  int same = 0;
#pragma omp target map(tofrom : same)
  {
    // What is the device's already stays.
    int here = 0;
    same = __llvm_omp_indirect_call_lookup(&here) == (void *)&here;
  }
  CHECK(same, 1);
  return finish();
}
