// Data regions and directives, queues, updates of sections, members that are attached, and the host.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

struct series {
  int count;
  double *values;
};

static int members(void) {
  struct series s = {N, malloc(N * sizeof(double))};
  for (int i = 0; i < N; i++) s.values[i] = i;
#pragma acc data copyin(s) copy(s.values[0 : s.count])
  {
#pragma acc parallel loop present(s)
    for (int i = 0; i < s.count; i++) s.values[i] *= 2;
  }
  for (int i = 0; i < N; i++) CHECK(s.values[i] == 2 * i);
#pragma acc parallel loop copy(s.values[10 : 20])
  for (int i = 10; i < 30; i++) s.values[i] = -i;
  CHECK(s.values[9] == 18 && s.values[10] == -10 && s.values[29] == -29 && s.values[30] == 60);
  free(s.values);
  return 0;
}

static int queues(void) {
  float *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c);
  for (int i = 0; i < N; i++) a[i] = i, b[i] = 1, c[i] = 0;
#pragma acc enter data copyin(a[0 : N], b[0 : N]) create(c[0 : N]) async(1)
#pragma acc wait(1)
#pragma acc parallel loop present(a, b) async(1)
  for (int i = 0; i < N; i++) a[i] += 1;
#pragma acc parallel loop present(b) async(2)
  for (int i = 0; i < N; i++) b[i] += 2;
#pragma acc parallel loop present(a, b, c) wait(1) wait(2) async(3)
  for (int i = 0; i < N; i++) c[i] = a[i] * b[i];
#pragma acc update self(c[5 : 3]) wait(3)
  CHECK(c[5] == 18 && c[7] == 24);
  CHECK(acc_get_device_type() == acc_device_host || (c[4] == 0 && c[8] == 0));
#pragma acc exit data copyout(c[0 : N]) delete(a[0 : N], b[0 : N]) wait(3)
  for (int i = 0; i < N; i++) CHECK(c[i] == 3.0f * (i + 1));
  CHECK(acc_get_device_type() == acc_device_host || !acc_is_present(a, N));
  free(a), free(b), free(c);
  return 0;
}

static int addresses(void) {
  int list[N], *copy = malloc(sizeof list), shares;
  for (int i = 0; i < N; i++) list[i] = i;
#pragma acc data copyin(list) create(copy[0 : N])
  {
#pragma acc host_data use_device(list, copy)
    {
      acc_memcpy_device(copy, list, sizeof list);
    }
#pragma acc update self(copy[0 : N])
  }
  for (int i = 0; i < N; i++) CHECK(copy[i] == i);
  int *device = acc_malloc(N * sizeof(int));
#pragma acc parallel loop deviceptr(device) copyout(list)
  for (int i = 0; i < N; i++) {
    device[i] = 3 * i;
    list[i] = device[i];
  }
  for (int i = 0; i < N; i++) CHECK(list[i] == 3 * i);
  acc_free(device);
  int n = 3;
#pragma acc data no_create(n) if (n > 2)
  shares = n;
  CHECK(shares == 3);
  char *itself = 0;
#pragma acc data copyout(itself)
#pragma acc serial
  itself = (char *)5;
  CHECK(itself == (char *)5);
  free(copy);
  return 0;
}

static int on_host(void) {
  int where = -1, list[4] = {0};
#pragma acc parallel copyout(where) if (list[0] > 0)
  where = acc_on_device(acc_device_host);
  CHECK(where == 1);
#pragma acc serial copy(list) self
  list[1] = 5;
  CHECK(list[1] == 5);
#pragma acc parallel copyout(where)
  where = acc_on_device(acc_device_host);
  CHECK(where == (acc_get_device_type() == acc_device_host));
  return 0;
}

static int table[16];
#pragma acc declare create(table)

#pragma acc routine seq
static int looked_up(int i) { return table[i & 15]; }

static int declared(void) {
  int sum = 0, list[8] = {0};
#pragma acc declare copy(list)
  for (int i = 0; i < 16; i++) table[i] = i * i;
#pragma acc update device(table)
#pragma acc parallel loop reduction(+ : sum) present(list)
  for (int i = 0; i < 16; i++) {
    sum += looked_up(i);
    list[i & 7] = i & 7;
  }
  CHECK(sum == 1240);
  return 0;
}

int main(void) {
  if (members() || queues() || addresses() || on_host() || declared()) return 1;
  puts("ok");
  return 0;
}
