// Accesses that a program tells are its own faults, where it has protected what the device has newer.
// with: openmp
// options: -O1 -g --check=map
// device: cpu
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { N = 1 << 14 };
static sigjmp_buf back;

static void on_fault(int signal)
{
  siglongjmp(back, 1);
}

int main(void)
{
  int *a = aligned_alloc(4096, N * sizeof *a);
  for (int i = 0; i < N; ++i)
    a[i] = 0;
  signal(SIGSEGV, on_fault);
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i;
  mprotect(a, N * sizeof *a, PROT_NONE);
  for (volatile int i = 0; i < 3; ++i)
    if (!sigsetjmp(back, 1)) {
      printf("%d\n", ((volatile int *)a)[5000 + i]);
      return 1;
    }
  mprotect(a, N * sizeof *a, PROT_READ | PROT_WRITE);
#ifndef WRONG
#pragma omp target update from(a[0:N])
#endif
  printf("%d\n", a[100]); // finds: the host reads
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}
