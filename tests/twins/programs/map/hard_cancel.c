// Threads are cancelled while they wait in calls of the C library.
// with: openmp
// options: -O1 -g -pthread
// device: cpu
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1 << 14 };
static int ends[2], *a, cleaned;

static void clean(void *none)
{
  __atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
}

static void *wait_for_ever(void *none)
{
  pthread_cleanup_push(clean, 0);
  if (read(ends[0], a, 64))
    abort();
  pthread_cleanup_pop(1);
  return 0;
}

int main(void)
{
  a = calloc(N, sizeof *a);
  if (pipe(ends))
    return 1;
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i;
  for (int round = 0; round < 20; ++round) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, 0, wait_for_ever, 0);
    usleep(2000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED)
      return 2;
  }
  if (cleaned != 20)
    return 3;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  printf("%d\n", a[9000]); // finds: the host reads
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}
