// A read-only mapping of a file is mapped to the device, and the device's copy is written.
// with: openmp
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
  FILE *file = tmpfile();
  int *b = malloc(N * sizeof *b);
  long sum = 0;
  for (int i = 0; i < N; ++i)
    b[i] = i;
  if (fwrite(b, sizeof *b, N, file) != N || fflush(file))
    return 1;
  int *a = mmap(0, N * sizeof *a, PROT_READ, MAP_PRIVATE, fileno(file), 0);
  signal(SIGSEGV, on_fault);
#pragma omp target enter data map(to : a[0:N], b[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    b[i] = a[i] + 1, a[i] = 0;
  if (!sigsetjmp(back, 1)) {
    ((volatile int *)a)[5000] = 1;
    return 2;
  }
#ifndef WRONG
#pragma omp target update from(b[0:N])
#endif
  for (int i = 0; i < N; ++i)
    sum += b[i]; // finds: the host reads
  if (!sigsetjmp(back, 1)) {
    ((volatile int *)a)[5000] = 1;
    return 3;
  }
  printf("%ld\n", sum);
#pragma omp target exit data map(delete : a[0:N], b[0:N])
  return 0;
}
