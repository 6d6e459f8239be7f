// Threads that run regions at the same time, each with a variable of its own, whose copies come and go beside each other.
// with: openmp
// options: -O1 -g -pthread --check=map
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 6, ROUNDS = 150 };

static void *work(void *argument)
{
  int sum = 0, step = *(int *)argument;
  for (int r = 0; r < ROUNDS; ++r) {
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
    for (int i = 0; i < 4; ++i)
      sum += step;
  }
#ifdef WRONG
#pragma omp target enter data map(to: sum)
#pragma omp target map(sum)
  sum += 1;
#endif
  *(int *)argument = sum; // finds
#ifdef WRONG
#pragma omp target exit data map(delete: sum)
#endif
  return 0;
}

int main(void)
{
  pthread_t threads[THREADS];
  int steps[THREADS], wrong = 0;
  for (int t = 0; t < THREADS; ++t) {
    steps[t] = t + 1;
    pthread_create(&threads[t], 0, work, &steps[t]);
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], 0);
    wrong += steps[t] != 4 * ROUNDS * (t + 1);
  }
  printf("%d wrong\n", wrong);
  return wrong;
}
