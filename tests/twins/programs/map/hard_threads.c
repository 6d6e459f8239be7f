// Eight threads use mapped arrays at once, while others of the arrays are copied and kernels run. Each reads what it has written.
// with: openmp
// options: -O1 -g -pthread
// device: cpu
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, N = 1 << 14 };
static double *a[THREADS];
static double sums[THREADS];
static int wrong;

static void *work(void *of)
{
  double *mine = a[(long)of], sum = 0;
#pragma omp target enter data map(to : mine[0:N])
  for (int step = 0; step < 3; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; ++i)
      mine[i] = mine[i] * 2 + 1;
    for (int i = N / 2; i < N; i += 97)
      mine[i] = step + 1;
#ifndef WRONG
#pragma omp target update from(mine[0:N / 2])
#endif
    for (int i = N / 2; i < N; ++i)
      if ((i - N / 2) % 97 == 0 && mine[i] != step + 1)
        wrong = 1;
#pragma omp target update to(mine[0:N])
  }
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    mine[i] = i;
#ifndef WRONG
#pragma omp target update from(mine[0:N])
#endif
  for (int i = 0; i < N; ++i)
    sum += mine[i]; // finds: the host reads
#pragma omp target exit data map(delete : mine[0:N])
  sums[(long)of] = sum;
#ifndef WRONG
  if (sum != (double)N * (N - 1) / 2)
    wrong = 1;
#endif
  return 0;
}

int main(void)
{
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; ++t)
    a[t] = calloc(N, sizeof **a);
  for (long t = 0; t < THREADS; ++t)
    pthread_create(&threads[t], 0, work, (void *)t);
  for (long t = 0; t < THREADS; ++t)
    pthread_join(threads[t], 0);
  printf("%d %g\n", wrong, sums[THREADS - 1]);
  return wrong;
}
