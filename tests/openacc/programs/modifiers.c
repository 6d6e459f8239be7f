// Modifiers of data clauses: `zero`, `readonly`, `always` and its parts.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 100000
#define CHECK(what) \
  if (!(what)) return printf("line %d: %s\n", __LINE__, #what), 1

static int all_are(const int *at, int value) {
  for (int i = 0; i < N; i++)
    if (at[i] != value) return 0;
  return 1;
}

static void set(int *at, int value) {
  for (int i = 0; i < N; i++) at[i] = value;
}

struct both {
  int sums[N], rest;
  int *list;
};

/* Members that come together, and rows that lie apart. */
static int of_parts(void) {
  struct both *both = malloc(sizeof *both);
  int *rows[4];
  set(both->sums, 5), both->rest = 6, both->list = malloc(N * sizeof(int)), set(both->list, 7);
  for (int k = 0; k < 4; k++) set(rows[k] = malloc(N * sizeof(int)), 5);
#pragma acc enter data create(zero : both->sums, both->rest, both->list[0 : N], rows[0 : 4][0 : N])
#pragma acc parallel loop present(both->sums, both->rest, both->list[0 : N], rows)
  for (int i = 0; i < N; i++) {
    both->sums[i] += 1 + both->rest;
    both->list[i] += 2;
    for (int k = 0; k < 4; k++) rows[k][i] += k;
  }
#pragma acc update self(both->sums, both->list[0 : N], rows[0 : 4][0 : N])
  CHECK(all_are(both->sums, 1) && all_are(both->list, 2));
  for (int k = 0; k < 4; k++) CHECK(all_are(rows[k], k));
  // The device's pointers stay its own.
  set(rows[2], 9), set(both->list, 9);
#pragma acc parallel loop copy(always : rows[0 : 4][0 : N], both->list[0 : N]) present(both->sums)
  for (int i = 0; i < N; i++) rows[2][i] += 1, both->list[i] += 1;
  CHECK(all_are(rows[2], 10) && all_are(rows[3], 3) && all_are(both->list, 10));
#pragma acc exit data copyout(both->sums, both->rest, both->list[0 : N], rows[0 : 4][0 : N])
  CHECK(both->rest == 0 && all_are(both->list, 10) && !acc_is_present(both, 1) && !acc_is_present(rows, 1));
  return 0;
}

int main(void) {
  // Where host and device share memory, nothing begins to be present.
  if (acc_get_device_type() == acc_device_host) return puts("ok"), 0;
  int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), small[3] = {7, 8, 9};
  set(a, 5), set(b, 7);
#pragma acc data create(zero : a[0 : N]) copyout(zero : b[0 : N]) copyout(zero : small)
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++) a[i] += 1;
#pragma acc parallel loop
    for (int i = 0; i < N; i += 2) b[i] += 3;
    CHECK(all_are(a, 5));
#pragma acc update self(a[0 : N])
  }
  CHECK(all_are(a, 1) && small[0] == 0 && small[2] == 0);
  for (int i = 0; i < N; i++) CHECK(b[i] == (i & 1 ? 0 : 3));
  // What is present keeps its value.
#pragma acc enter data copyin(a[0 : N])
#pragma acc enter data create(zero : a[0 : N])
#pragma acc parallel loop copyin(readonly : a[0 : N]) copyout(zero : b[0 : N]) async(1)
  for (int i = 0; i < N; i++) b[i] += a[i];
#pragma acc wait(1)
  CHECK(all_are(b, 1));
  // Present data is copied only where `always` says so.
  set(a, 2);
#pragma acc parallel loop copy(a[0 : N])
  for (int i = 0; i < N; i++) a[i] += 10;
  CHECK(all_are(a, 2));
#pragma acc parallel loop copy(alwaysout : a[0 : N])
  for (int i = 0; i < N; i++) a[i] += 10;
  CHECK(all_are(a, 21));
  set(a, 3);
#pragma acc parallel loop copyin(always : a[0 : N]) copyout(b[0 : N])
  for (int i = 0; i < N; i++) b[i] = a[i]++;
  CHECK(all_are(a, 3) && all_are(b, 3));
#pragma acc data copy(alwaysin, alwaysout : a[0 : N])
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++) a[i] *= 2;
  }
  CHECK(all_are(a, 6));
  set(a, 0);
#pragma acc exit data copyout(always : a[0 : N])
  CHECK(all_are(a, 6) && acc_is_present(a, sizeof *a));
#pragma acc exit data delete(a[0 : N])
  CHECK(!acc_is_present(a, sizeof *a));
  if (of_parts()) return 1;
  puts("ok");
  return 0;
}
