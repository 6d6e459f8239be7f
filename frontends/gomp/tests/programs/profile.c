/* Constructs of each kind, outside of parallel regions and within one. Built with NOWAIT they wait for
   nothing but their dependences, and then for all. */
#include "check.h"

enum { N = 4096 };

static int list[N], other[N];

static void constructs(void)
{
#pragma omp target enter data map(to : list, other) depend(out : list, other) NOWAIT
#pragma omp target depend(inout : list) NOWAIT
  for (int i = 0; i < N; i++)
    list[i]++;
#pragma omp target depend(inout : other) NOWAIT
  for (int i = 0; i < N; i++)
    other[i]++;
#pragma omp target update from(list) depend(inout : list) NOWAIT
#pragma omp target exit data map(from : list, other) depend(inout : list, other) NOWAIT
#pragma omp taskwait
}

int main(void)
{
  constructs();
#pragma omp parallel num_threads(2)
#pragma omp single
  constructs();
  CHECK(list[N - 1] == 2 && other[N - 1] == 2);
  puts("passed");
  return 0;
}
