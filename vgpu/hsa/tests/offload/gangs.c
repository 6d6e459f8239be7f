// OpenACC of GCC's, on the stock libgomp and its plugin: gangs, workers and vectors, queues, data.
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2000 };

#define CHECK(what) \
  if (!(what)) { printf("line %d: not so: %s\n", __LINE__, #what); exit(1); }

int main(void) {
  static float a[N], b[N];
  float sum = 0;
  CHECK(acc_get_num_devices(acc_device_radeon) == 2);
  for (int at = 0; at < N; ++at) a[at] = (float)at;
#pragma acc parallel loop copyin(a) copyout(b)
  for (int at = 0; at < N; ++at) b[at] = 2 * a[at] + 1;
  for (int at = 0; at < N; ++at) CHECK(b[at] == 2 * a[at] + 1);
#pragma acc parallel loop gang worker vector reduction(+ : sum) copyin(a)
  for (int at = 0; at < 100; ++at) sum += a[at];
  CHECK(sum == 4950);
#pragma acc data copy(a)
  {
    // Two queues, each of which does its half twice.
    for (int round = 0; round < 2; ++round) {
#pragma acc parallel loop gang num_gangs(8) async(0) present(a)
      for (int row = 0; row < N / 100; row += 2) {
#pragma acc loop vector
        for (int at = 0; at < 100; ++at) a[row * 100 + at] += 1;
      }
#pragma acc parallel loop gang num_gangs(8) async(1) present(a)
      for (int row = 1; row < N / 100; row += 2) {
#pragma acc loop vector
        for (int at = 0; at < 100; ++at) a[row * 100 + at] += 1;
      }
    }
#pragma acc wait
  }
  for (int at = 0; at < N; ++at) CHECK(a[at] == (float)at + 2);
  return 0;
}
