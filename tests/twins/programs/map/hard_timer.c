// A timer's handler, on a stack of its own, uses the arrays that the program uses. One leaves the program's loop: it has to be
// on the program's thread, so those that OpenMP begins have its signal blocked.
// with: openmp
// device: cpu
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { N = 1 << 15 };
static int *volatile a;
static volatile sig_atomic_t ticks, leave;
static sigjmp_buf back;

static void on_tick(int signal)
{
  for (int i = 0; i < 40; ++i) {
    int at = 2000 + (ticks * 131 + i * 37) % (N / 2 - 4000);
    a[at] = 5;
    if (a[at] != 5)
      _Exit(9);
  }
  ++ticks;
  if (leave && ticks > 100)
    siglongjmp(back, 1);
}

int main(void)
{
  int *b = calloc(N, sizeof *b);
  long sum = 0;
  stack_t stack = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
  struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_ONSTACK};
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  sigset_t alarm;
  a = b;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, 0);
  sigaltstack(&stack, 0);
  sigaction(SIGALRM, &action, 0);
#pragma omp target enter data map(to : b[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    b[i] = 1;
  pthread_sigmask(SIG_UNBLOCK, &alarm, 0);
  setitimer(ITIMER_REAL, &often, 0);
  while (ticks < 50)
    for (int i = 1; i < N / 2; i += 509) {
      a[i] = 5;
      if (a[i] != 5)
        return 1;
    }
  if (!sigsetjmp(back, 1)) {
    leave = 1;
    for (int i = 1;; i = (i + 511) % (N / 2))
      a[i] = 5;
  }
  setitimer(ITIMER_REAL, &never, 0);
#ifndef WRONG
#pragma omp target update from(b[N / 2:N / 2])
#endif
  for (int i = N / 2; i < N; ++i)
    sum += b[i]; // finds: the host reads
  printf("%ld\n", sum);
#pragma omp target exit data map(delete : b[0:N])
  return 0;
}
