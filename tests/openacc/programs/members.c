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
  free(v.b);
  puts("ok");
  return 0;
}
