/* A program in which a region stands inside of another one: that one is right, and so are the others. */
#include <stdio.h>

#define N 1000

int main(void) {
  static double a[N], b[N];
  for (int i = 0; i < N; ++i) {
    a[i] = i;
    b[i] = 2;
  }
#pragma omp target data map(tofrom : a) map(to : b)
  for (int k = 0; k < 3; ++k) {
#pragma omp target teams loop
    for (int i = 0; i < N; ++i)
      a[i] += 0.5 * b[i];
  }
  int wrong = 0;
  for (int i = 0; i < N; ++i)
    wrong += a[i] != i + 3;

  int outer = 0, inner = 0;
#pragma omp target map(tofrom : outer, inner)
#pragma omp parallel num_threads(8) reduction(+ : outer)
  {
    ++outer;
#pragma omp parallel num_threads(2)
#pragma omp atomic
    ++inner;
  }

  /* Tasks inside of tasks. */
  int tasks = 0;
#pragma omp target parallel num_threads(8) map(tofrom : tasks)
  {
#pragma omp task shared(tasks)
    {
      int middle = 0;
#pragma omp task shared(middle)
      {
        int last = 0;
#pragma omp task shared(last)
        last = 5;
#pragma omp taskwait
        middle = last + 1;
      }
#pragma omp taskwait
#pragma omp atomic
      tasks += middle;
    }
  }
  printf("%d %d %d\n", wrong, outer == inner && outer > 0, tasks);
}
