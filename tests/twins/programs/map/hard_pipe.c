// A thread waits in `read` for bytes that go to an array of the device's, while kernels write that array.
// with: openmp
// options: -O1 -g -pthread
// device: cpu
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 1 << 14 };
static int ends[2], *a;

static void *fill(void *got)
{
  *(long *)got = read(ends[0], a + 2048, 8192);
  return 0;
}

int main(void)
{
  pthread_t thread;
  long got = 0;
  static int bytes[2048];
  a = calloc(N, sizeof *a);
  if (pipe(ends))
    return 1;
#pragma omp target enter data map(to : a[0:N])
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = 1;
  pthread_create(&thread, 0, fill, &got);
  usleep(200000);
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; ++i)
    a[i] = i + 2;
  for (int i = 0; i < 2048; ++i)
    bytes[i] = 7;
  if (write(ends[1], bytes, sizeof bytes) != sizeof bytes)
    return 2;
  pthread_join(thread, 0);
  if (got != sizeof bytes || a[2048] != 7 || a[4095] != 7)
    return 3;
#ifndef WRONG
#pragma omp target update from(a[4096:N - 4096])
#endif
  printf("%d\n", a[8000]); // finds: the host reads
#pragma omp target exit data map(delete : a[0:N])
  return 0;
}
