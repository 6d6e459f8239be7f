// Clauses of `exit data` that name a pointer and no section end the lifetime of what it leads to.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

struct table {
  int *cells;
};

static void given_up(int *a) {
#pragma acc exit data delete (a)
}

int main(void) {
  if (acc_get_device_type() == acc_device_host) return puts("ok"), 0;
  int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++) a[i] = b[i] = i;
#pragma acc enter data copyin(a[0 : N], b[0 : N])
#pragma acc enter data copyin(b[0 : N])
#pragma acc parallel loop present(a, b)
  for (int i = 0; i < N; i++) a[i] *= 2, b[i] *= 3;
#pragma acc exit data copyout(a) delete (b)
  for (int i = 0; i < N; i++) CHECK(a[i] == 2 * i && b[i] == i);
  CHECK(!acc_is_present(a, 1) && acc_is_present(b, N * sizeof *b));
#pragma acc enter data copyin(b[0 : N])
#pragma acc exit data copyout(b) finalize
  for (int i = 0; i < N; i++) CHECK(b[i] == 3 * i);
  CHECK(!acc_is_present(b, 1));
  // What is not there needs no end.
  given_up(a);
#pragma acc enter data copyin(a[0 : N])
  given_up(a);
  CHECK(!acc_is_present(a, 1));
  // A pointer that is present is meant itself.
#pragma acc enter data copyin(a, a[0 : N])
#pragma acc exit data delete (a)
  CHECK(acc_is_present(a, N * sizeof *a) && !acc_is_present(&a, sizeof a));
#pragma acc exit data delete (a)
  CHECK(!acc_is_present(a, 1));
  struct table of = {a};
#pragma acc enter data copyin(of, of.cells[0 : N])
#pragma acc parallel loop present(of)
  for (int i = 0; i < N; i++) of.cells[i] = 7;
#pragma acc exit data copyout(of.cells[0 : N]) delete (of)
  for (int i = 0; i < N; i++) CHECK(a[i] == 7);
  CHECK(!acc_is_present(a, 1) && !acc_is_present(&of, 1));
  puts("ok");
  return 0;
}
