// Kernels that crash.
// run: null args=null signal=SEGV
// run: unmapped args=unmapped signal=SEGV
// run: division args=division signal=FPE
// run: worker args=worker OMP_NUM_THREADS=4 signal=SEGV
// run: helper args=helper signal=SEGV
// run: inlined args=helper flags=-O2 signal=SEGV
// run: beyond args=beyond signal=SEGV
// run: optimised args=worker flags=-O2 OMP_NUM_THREADS=4 signal=SEGV
// run: library args=library signal=SEGV
// run: null_without_debug_information args=null flags=-g0 signal=SEGV
#include <string.h>

struct list {
  int value;
  struct list *next;
};

static int sum(const struct list *list) {
  int sum = 0;
  for (; list; list = list->next)
    sum += list->value;
  return sum;
}

int main(int argc, char **argv) {
  int n = argc - 2, result = 0;
  struct list last = {1, 0}, first = {0, &last};
  int *nowhere = 0;
  const char *which = argv[argc - 1];
  if (strcmp(which, "null") == 0) {
#pragma omp target map(from : result)
    result = nowhere[3];
  } else if (strcmp(which, "unmapped") == 0) {
#pragma omp target map(alloc : first) map(from : result)
    result = first.next->value;
  } else if (strcmp(which, "division") == 0) {
#pragma omp target map(from : result)
    result = 100 / n;
  } else if (strcmp(which, "helper") == 0) {
#pragma omp target map(alloc : first) map(from : result)
    result = sum(&first);
  } else if (strcmp(which, "beyond") == 0) {
    int small[10] = {0};
#pragma omp target map(tofrom : small)
    small[n + 200000000] = 1;
  } else if (strcmp(which, "library") == 0) {
#pragma omp target map(from : result)
    result = strlen((char *)nowhere);
  } else {
#pragma omp target parallel for map(tofrom : result)
    for (int i = 0; i < 1000; ++i)
      if (i == 999)
        nowhere[i] = result;
  }
  return result;
}
