// A handler is installed without the C library. Then nobody sees reads any more, and the program goes on.
// with: openmp
// device: cpu
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N = 1 << 14 };

static void on_fault(int signal)
{
  _Exit(9);
}

int main(void)
{
  int *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b);
  long sum = 0;
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {on_fault, 0x04000000, 0, 0};
#pragma omp target enter data map(to : a[0:N], b[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = 1;
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  for (int i = 0; i < N; ++i)
    sum += a[i]; // finds: the host reads
  syscall(SYS_rt_sigaction, SIGSEGV, &action, 0, 8);
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    b[i] = 1;
  for (int i = 0; i < N; ++i)
    b[i] = sum;
  printf("%ld\n", sum);
#pragma omp target exit data map(delete : a[0:N], b[0:N])
  return 0;
}
