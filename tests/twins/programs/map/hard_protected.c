// The program protects a part of an array that the device has newer, and gets the faults of that.
// with: openmp
// device: cpu
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 1 << 14, PAGE = 4096 };
static int faults;
static char *from;

static void on_fault(int signal, siginfo_t *info, void *context)
{
  char *at = info->si_addr;
  if (at < from || at >= from + 4 * PAGE || ++faults > 10)
    _Exit(9);
  mprotect(from, 4 * PAGE, PROT_READ | PROT_WRITE);
}

int main(void)
{
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  int *a = aligned_alloc(PAGE, N * sizeof *a);
  for (int i = 0; i < N; ++i)
    a[i] = 0;
  sigaction(SIGSEGV, &action, 0);
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i;
  from = (char *)a + 2 * PAGE;
  mprotect(from, 4 * PAGE, PROT_READ);
  ((volatile int *)a)[2 * PAGE / 4 + 5] = 1;
  mprotect(from, 4 * PAGE, PROT_NONE);
  ((volatile int *)a)[4 * PAGE / 4] = 2;
  if (faults != 2)
    return 1;
#ifndef WRONG
#pragma omp target update from(a[8192:N - 8192])
#endif
  printf("%d\n", a[9000]); // finds: the host reads
  mprotect(from, 4 * PAGE, PROT_READ);
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = 3;
  ((volatile int *)a)[2 * PAGE / 4 + 5] = 1;
#pragma omp target exit data map(delete : a[0:N])
  free(a);
  return faults != 3;
}
