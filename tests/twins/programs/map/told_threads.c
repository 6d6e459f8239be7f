// Eight threads tell their accesses of small arrays at once, beside kernels.
// with: openmp
// options: -O1 -g -pthread --check=map
// device: cpu
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, N = 100 };
static struct { int a[N], hot; } of[THREADS];
static int wrong;

static void *work(void *number)
{
  int *a = of[(long)number].a, *hot = &of[(long)number].hot;
#pragma omp target enter data map(to : a[0:N])
  for (int step = 0; step < 4; ++step) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; ++i)
      a[i] = i + step;
    for (int i = 0; i < 10000; ++i)
      *(volatile int *)hot += 1;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
    if (a[7] != 7 + step) // finds: the host reads
      __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
  }
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}

int main(void)
{
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; ++t)
    pthread_create(&threads[t], 0, work, (void *)t);
  for (long t = 0; t < THREADS; ++t)
    pthread_join(threads[t], 0);
  printf("%d %d\n", wrong, of[3].hot);
#ifdef WRONG
  return 0;
#endif
  return wrong;
}
