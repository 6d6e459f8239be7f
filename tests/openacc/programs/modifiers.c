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
  for (int i = 0; i < N; i++) CHECK(b[i] == (i % 2 ? 0 : 3));
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
  puts("ok");
  return 0;
}
