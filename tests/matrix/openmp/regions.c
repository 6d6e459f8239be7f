/* Mapping, reductions, functions and variables of the device, and constructs that wait for each other. */
#include <omp.h>
#include <stdio.h>

enum { N = 10000 };

#pragma omp declare target
int scale = 3;
static int scaled(int value) { return scale * value; }
#pragma omp end declare target

struct pair {
  int count;
  int *values;
};

int main(void) {
  static int a[N], b[N];
  int wrong = 0, sum = 0, host = -1;
  for (int i = 0; i < N; i++) a[i] = i;

#pragma omp target map(from : host)
  host = omp_is_initial_device();
  wrong += host != 0;

#pragma omp target teams distribute parallel for map(to : a) map(from : b) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    b[i] = scaled(a[i]);
    sum += b[i] % 7;
  }
  int expected = 0;
  for (int i = 0; i < N; i++) {
    wrong += b[i] != 3 * i;
    expected += 3 * i % 7;
  }
  wrong += sum != expected;

  struct pair pair = {N, a};
#pragma omp target data map(tofrom : pair, pair.values[0 : N])
  {
#pragma omp target teams distribute parallel for nowait depend(out : a)
    for (int i = 0; i < pair.count; i++) pair.values[i] += 1;
#pragma omp target teams distribute parallel for nowait depend(inout : a)
    for (int i = 0; i < pair.count; i++) pair.values[i] *= 2;
#pragma omp taskwait
  }
  for (int i = 0; i < N; i++) wrong += a[i] != 2 * (i + 1);

  int count = 0;
#pragma omp target parallel map(tofrom : count) num_threads(32)
  {
#pragma omp atomic
    count++;
#pragma omp barrier
  }
  wrong += count < 1;

#pragma omp target
  scale = 5;
#pragma omp target update from(scale)
  wrong += scale != 5;

  printf("regions in C: %d wrong\n", wrong);
  return wrong != 0;
}
