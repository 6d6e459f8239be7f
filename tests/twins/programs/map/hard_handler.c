// A handler that the program installs after its first region gets the program's own faults, and only those.
// with: openmp
// device: cpu
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 1 << 14 };
static sigjmp_buf back;
static volatile sig_atomic_t faults, traps;
static char *closed;

static void on_fault(int signal, siginfo_t *info, void *context)
{
  if (signal != SIGSEGV || (char *)info->si_addr != closed)
    _Exit(9);
  ++faults;
  siglongjmp(back, 1);
}

static void on_trap(int signal)
{
  traps += signal == SIGTRAP;
}

int main(void)
{
  int *a = calloc(N, sizeof *a);
  long sum = 0;
  closed = mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = 1;
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, old;
  sigaction(SIGSEGV, &action, 0);
  signal(SIGTRAP, on_trap);
  if (sigaction(SIGSEGV, 0, &old) || old.sa_sigaction != on_fault || signal(SIGTRAP, on_trap) != on_trap)
    return 1;
  for (int i = 0; i < 4; ++i)
    if (!sigsetjmp(back, 1))
      *closed = 1;
  __asm__ volatile("int3");
  if (faults != 4 || traps != 1)
    return 2;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  for (int i = 0; i < N; ++i)
    sum += a[i]; // finds: the host reads
  if (!sigsetjmp(back, 1))
    *closed = 1;
  printf("%ld %d\n", sum, faults);
#pragma omp target exit data map(delete : a[0:N])
  return faults != 5;
}
