// OpenACC on a GPU of NVIDIA's and on one of AMD's in one process: kernels are compiled for vectors of 32 and of 64 lanes.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000 };

#define CHECK(what) \
  if (!(what)) { printf("line %d: not so: %s\n", __LINE__, #what); exit(1); }

static long run(acc_device_t type, int queue, float *values) {
  acc_set_device_type(type);
  CHECK(acc_get_num_devices(type) == 1);
  long sum = 0;
#pragma acc parallel loop gang worker vector copy(values[0 : N]) reduction(+ : sum) async(queue)
  for (int at = 0; at < N; ++at) {
    values[at] *= 2;
    sum += at;
  }
#pragma acc wait(queue)
  return sum;
}

int main(void) {
  static float first[N], second[N];
  for (int at = 0; at < N; ++at) first[at] = second[at] = at;
  CHECK(run(acc_device_nvidia, 1, first) == (long)N * (N - 1) / 2);
  CHECK(run(acc_device_radeon, 1, second) == (long)N * (N - 1) / 2);
  CHECK(run(acc_device_nvidia, 2, first) == (long)N * (N - 1) / 2);
  for (int at = 0; at < N; ++at) CHECK(first[at] == 4 * at && second[at] == 2 * at);
  printf("passed\n");
  return 0;
}
