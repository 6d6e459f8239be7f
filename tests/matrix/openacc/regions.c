/* Data regions, reductions, routines, gangs with workers and vectors, and queues. */
#include <openacc.h>
#include <stdio.h>

enum { N = 10000, ROWS = 40, COLUMNS = 64 };

#pragma acc routine seq
static int tripled(int value) { return 3 * value; }

int main(void) {
  static int a[N], b[N], c[ROWS][COLUMNS];
  int wrong = 0, sum = 0, device = 0;
  for (int i = 0; i < N; i++) a[i] = i;

#pragma acc parallel copyout(device) num_gangs(1)
  device = acc_on_device(acc_device_not_host);
  wrong += device == 0;

#pragma acc parallel loop copyin(a) copyout(b) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    b[i] = tripled(a[i]);
    sum += b[i] % 7;
  }
  int expected = 0;
  for (int i = 0; i < N; i++) {
    wrong += b[i] != 3 * i;
    expected += 3 * i % 7;
  }
  wrong += sum != expected;

#pragma acc data copy(c)
  {
#pragma acc parallel loop gang
    for (int i = 0; i < ROWS; i++) {
#pragma acc loop worker vector
      for (int j = 0; j < COLUMNS; j++) c[i][j] = i * COLUMNS + j;
    }
#pragma acc kernels
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) c[i][j] += 1;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) wrong += c[i][j] != i * COLUMNS + j + 1;

#pragma acc enter data copyin(a) async(1)
#pragma acc parallel loop present(a) async(1)
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma acc parallel loop present(a) async(2) wait(1)
  for (int i = 0; i < N; i++) a[i] *= 2;
#pragma acc wait
#pragma acc exit data copyout(a)
  for (int i = 0; i < N; i++) wrong += a[i] != 2 * (i + 1);

  printf("regions in C: %d wrong\n", wrong);
  return wrong != 0;
}
