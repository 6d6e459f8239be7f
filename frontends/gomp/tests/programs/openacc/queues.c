/* Asynchronous queues: order inside of one, between two, and for the host. */
#include "../check.h"
#include <openacc.h>

enum { N = 4096, QUEUES = 4 };

static void one_after_the_other(void)
{
  static int a[N];
#pragma acc enter data create(a) async(3)
#pragma acc parallel loop present(a) async(3)
  for (int i = 0; i < N; ++i)
    a[i] = i;
  for (int round = 0; round < 20; ++round) {
#pragma acc parallel loop present(a) async(3)
    for (int i = 0; i < N; ++i)
      a[i] += 1;
  }
#pragma acc exit data copyout(a) async(3)
#pragma acc wait(3)
  for (int i = 0; i < N; ++i)
    CHECK(a[i] == i + 20);
  CHECK(acc_async_test(3) && acc_async_test_all());
}

static void next_to_each_other(void)
{
  static int a[QUEUES][N];
  int sum[N];
  for (int q = 0; q < QUEUES; ++q) {
    int *part = a[q];
#pragma acc enter data create(part[0:N]) async(q)
#pragma acc parallel loop present(part[0:N]) firstprivate(q) async(q)
    for (int i = 0; i < N; ++i)
      part[i] = q * i;
  }
  int *p0 = a[0], *p1 = a[1], *p2 = a[2], *p3 = a[3];
#pragma acc parallel loop present(p0[0:N], p1[0:N], p2[0:N], p3[0:N]) copyout(sum) async(9) wait(0, 1, 2, 3)
  for (int i = 0; i < N; ++i)
    sum[i] = p0[i] + p1[i] + p2[i] + p3[i];
#pragma acc wait(9) async(0)
  for (int q = 0; q < QUEUES; ++q) {
    int *part = a[q];
#pragma acc exit data delete(part[0:N]) async(0)
  }
#pragma acc wait
  for (int i = 0; i < N; ++i)
    CHECK(sum[i] == 6 * i);
  for (int q = 0; q < QUEUES; ++q)
    CHECK(!acc_is_present(a[q], sizeof a[q]));
}

static void many_waits(void)
{
  int n = 0;
#pragma acc enter data copyin(n)
#pragma acc parallel present(n) async(12)
  n += 1;
#pragma acc wait(1, 2, 3, 4, 5, 6, 7, 12)
#pragma acc parallel present(n) async
  n += 1;
#pragma acc update self(n) async
  acc_wait(acc_async_noval);
  CHECK(n == 2);
#pragma acc exit data delete(n)
}

static void routines(void)
{
  int a[64];
  for (int i = 0; i < 64; ++i)
    a[i] = i;
  acc_copyin_async(a, sizeof a, 1);
  acc_wait_async(1, 2);
#pragma acc parallel loop present(a) async(2)
  for (int i = 0; i < 64; ++i)
    a[i] *= 2;
  acc_update_self_async(a, sizeof a, 2);
  acc_wait_all_async(3);
  acc_wait(3);
  for (int i = 0; i < 64; ++i)
    CHECK(a[i] == 2 * i);
  acc_delete_async(a, sizeof a, 2);
  acc_wait_all();
  CHECK(!acc_is_present(a, sizeof a));
}

int main(void)
{
  one_after_the_other();
  next_to_each_other();
  many_waits();
  routines();
  puts("passed");
  return 0;
}
