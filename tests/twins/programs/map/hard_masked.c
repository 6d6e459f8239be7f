// A thread has all signals blocked, and uses what the device has newer; so does a handler that blocks all.
// with: openmp
// options: -O1 -g -pthread
// device: cpu
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 14 };
static int *a;

static void on_signal(int signal)
{
  a[3000] = 4;
}

static void *work(void *none)
{
  long sum = 0;
  for (int i = 1500; i < 2000; ++i)
    a[i] = i;
  raise(SIGUSR1);
  for (int i = 8192; i < N; ++i)
    sum += a[i]; // finds: the host reads
  printf("%ld\n", sum);
  return 0;
}

int main(void)
{
  pthread_t thread;
  sigset_t all;
  struct sigaction action = {.sa_handler = on_signal};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, 0);
  sigfillset(&all);
  a = calloc(N, sizeof *a);
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = 1;
  pthread_sigmask(SIG_SETMASK, &all, 0);
  raise(SIGUSR1);
  sigdelset(&all, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &all, 0);
#ifndef WRONG
#pragma omp target update from(a[8192:N - 8192])
#endif
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}
