/* What is in no queue comes behind what is in queues, as libgomp's null stream does: each kind of
   construct and routine, with nothing that waits. */
#include "../check.h"
#include <openacc.h>
#include <string.h>

enum { N = 100, LONG = 3000 };

static double a[N], b[N];

/* Takes long, so that whoever does not wait is early. */
static void in_queues(void)
{
#pragma acc parallel loop seq present(a) async(1)
  for (int i = 0; i < N * LONG; i++)
    a[i % N] = i / N == LONG - 1 ? i % N : -2;
#pragma acc parallel loop seq present(b) async
  for (int i = 0; i < N * LONG; i++)
    b[i % N] = i / N == LONG - 1 ? i % N : -2;
}

static void begin(void)
{
  for (int i = 0; i < N; i++)
    a[i] = b[i] = -1;
#pragma acc enter data copyin(a, b)
  in_queues();
}

static void check(const double *values)
{
  for (int i = 0; i < N; i++)
    CHECK(values[i] == i);
}

static void data(void)
{
  begin();
#pragma acc exit data copyout(a, b)
  check(a);
  check(b);
  begin();
#pragma acc update self(a, b)
  check(a);
  check(b);
#pragma acc exit data delete(a, b)
}

static void a_kernel(void)
{
  double c[N];
  begin();
#pragma acc parallel loop present(a, b) copyout(c)
  for (int i = 0; i < N; i++)
    c[i] = 2 * a[i] - b[i];
  check(c);
#pragma acc exit data delete(a, b)
}

static void routines(void)
{
  double c[N];
  begin();
  acc_memcpy_from_device(c, acc_deviceptr(b), sizeof c);
  check(c);
  memset(a, 0, sizeof a);
  acc_copyout(a, sizeof a);
  check(a);
  acc_delete(b, sizeof b);
}

/* The end of the data region writes the pointer's host value: the kernels still use it. */
static void a_pointer(void)
{
  struct { double *data; } s = {malloc(N * sizeof(double))};
  for (int i = 0; i < N; i++)
    s.data[i] = -1;
#pragma acc data copyin(s) copyout(s.data[0:N])
  {
#pragma acc parallel loop seq present(s) async(1)
    for (int i = 0; i < N * LONG; i++)
      s.data[i % N] = i / N == LONG - 1 ? i % N : -2;
  }
  check(s.data);
  free(s.data);
}

int main(void)
{
  data();
  a_kernel();
  routines();
  a_pointer();
  puts("passed");
  return 0;
}
