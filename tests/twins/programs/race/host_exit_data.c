// What leaves the device in a task is read behind the task, or beside it.
// with: openmp
// options: -O1 -g --check=race
#include <stdio.h>

int main(void)
{
  enum { N = 3000 };
  static int a[N];
  int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp target enter data map(to: a) nowait depend(out: a)
#pragma omp target teams distribute parallel for nowait depend(inout: a)
    for (int i = 0; i < N; ++i)
      a[i] += i;
#pragma omp target exit data map(from: a) nowait depend(inout: a) // finds: the host and a copy
#ifndef WRONG
#pragma omp taskwait
#endif
    sum = a[5]; // finds: the host and a copy
  }
  printf("%d\n", sum >= 0);
  return 0;
}
