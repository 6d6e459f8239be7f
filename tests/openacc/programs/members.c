// Members of structures that are mapped by themselves: one allocation covers them, and kernels find them there.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

struct pair {
  int a;
  int *b;
};

/* What members lead to ends apart from the objects, in whatever words clauses name it. */
static int apart(int shared) {
  struct pair all[3], *one = &all[1];
  for (int k = 0; k < 3; k++) {
    all[k].a = k, all[k].b = malloc(N * sizeof(int));
    for (int i = 0; i < N; i++) all[k].b[i] = i;
  }
  // An element that is not present by itself comes with its member.
  for (int k = 0; k < 3; k++) {
#pragma acc parallel loop copy(all[k].b[0 : N])
    for (int i = 0; i < N; i++) all[k].b[i] += all[k].a;
    struct pair *here = all;
#pragma acc parallel loop copy(here[k].b[0 : N])
    for (int i = 0; i < N; i++) here[k].b[i] += here[k].a;
  }
#pragma acc enter data copyin(all)
  for (int k = 0; k < 3; k++) {
#pragma acc enter data copyin(all[k].b[0 : N])
  }
#pragma acc exit data delete (one->b[0 : N])
#pragma acc enter data copyin(one->b[0 : N])
#pragma acc exit data copyout(one->b[0 : N])
  CHECK(shared || acc_is_present(all, sizeof all));
#pragma acc enter data copyin(one->b[0 : N])
#pragma acc parallel loop present(all)
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < N; i++) all[k].b[i] *= 2;
  for (int k = 0; k < 3; k++) {
    one = all + k;
#pragma acc exit data copyout(one->b[0 : N])
    for (int i = 0; i < N; i++) CHECK(all[k].b[i] == 2 * (i + 2 * k));
  }
  // The member is present, and what it leads to is not: it keeps the host's address.
#pragma acc data no_create(all[0].b[0 : N])
  ;
#pragma acc exit data delete (all)
  CHECK(shared || !acc_is_present(all, 1));
  return 0;
}

int main(void) {
  struct pair v = {3, malloc(N * sizeof(int))};
  int shared = acc_get_device_type() == acc_device_host;
  for (int step = 0; step < 4; step++) {
#pragma acc enter data copyin(v.a, v.b[0 : N])
    CHECK(shared || (acc_is_present(&v.b, sizeof v.b) && acc_is_present(v.b, N * sizeof(int))));
#pragma acc enter data copyin(v.b[0 : N])
#pragma acc parallel loop present(v.a, v.b)
    for (int i = 0; i < N; i++) v.b[i] = v.a + i;
#pragma acc exit data copyout(v.b[0 : N]) finalize
#pragma acc exit data delete (v.a)
    for (int i = 0; i < N; i++) CHECK(v.b[i] == 3 + i);
    CHECK(shared || (!acc_is_present(&v, sizeof v) && !acc_is_present(v.b, N * sizeof(int))));
  }
#pragma acc data copyin(v.a) copy(v.b[0 : N])
  {
#pragma acc parallel loop
    for (int i = 0; i < N; i++) v.b[i] *= v.a;
  }
  for (int i = 0; i < N; i++) CHECK(v.b[i] == 3 * (3 + i));
  if (apart(shared)) return 1;
  free(v.b);
  puts("ok");
  return 0;
}
