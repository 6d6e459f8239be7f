// A call of the host by a function's address, as LLVM's device runtime has it.
#include "check.h"

static int sum;

static unsigned long long add(void *data) {
  int value = data ? *(int *)data : 100;
  __atomic_add_fetch(&sum, value, __ATOMIC_RELAXED);
  return 7;
}

#pragma omp begin declare target
void *function;
#ifdef __NVPTX__
unsigned long long __llvm_omp_host_call(void *function, void *data, unsigned long bytes);
#else
static unsigned long long __llvm_omp_host_call(void *function, void *data, unsigned long bytes) { return 0; }
#endif
#pragma omp end declare target

int main(void) {
  function = (void *)add;
#pragma omp target update to(function)
  int wrong = 0;
#pragma omp target parallel for num_threads(8) reduction(+ : wrong)
  for (int i = 0; i < 64; ++i)
    wrong += __llvm_omp_host_call(function, &i, sizeof i) != 7;
#pragma omp target map(tofrom : wrong)
  wrong += __llvm_omp_host_call(function, NULL, 0) != 7;
  CHECK(wrong, 0);
  CHECK(sum, 64 * 63 / 2 + 100);
  return finish();
}
