// Global pointers of `declare deviceptr`: a routine on a device has the value that the host's has when the construct begins.
#include <openacc.h>
#include <stdio.h>

#define N 64
#define CHECK(what) \
  if (!(what)) return printf("line %d: " #what "\n", __LINE__), 1

float *first;
#pragma acc declare deviceptr(first)
static double *second;
#pragma acc declare deviceptr(second)

#pragma acc routine seq
static double sum(int i) { return first[i] + second[i]; }

#pragma acc routine vector
static void fill(int from) {
#pragma acc loop vector
  for (int i = 0; i < N; i++) second[i] = from + i;
}

#pragma acc routine seq
float *address(void) { return first; }

// A variable of the same name is another one.
static int hidden(int first, double *out) {
#pragma acc parallel loop copyout(out[0 : N]) async(3)
  for (int i = 0; i < N; i++) out[i] = sum(i) + first;
#pragma acc wait(3)
  return first;
}

int main(void) {
  double out[N];
  first = acc_malloc(2 * N * sizeof *first);
  second = acc_malloc(N * sizeof *second);
#pragma acc parallel loop
  for (int i = 0; i < 2 * N; i++) first[i] = i;
#pragma acc parallel num_gangs(1)
  fill(100);
#pragma acc parallel loop copyout(out)
  for (int i = 0; i < N; i++) out[i] = sum(i);
  for (int i = 0; i < N; i++) CHECK(out[i] == i + 100 + i);
  // The pointer has another value now.
  float *all = first;
  first += N;
  CHECK(address() == first);
  CHECK(hidden(1000, out) == 1000);
  for (int i = 0; i < N; i++) CHECK(out[i] == N + i + 100 + i + 1000);
  first = all;
  for (int step = 0; step < 2; step++) {
    void *found = 0;
#pragma acc serial copyout(found) if (step == 0)
    found = address();
    CHECK(found == first);
  }
  acc_free(first);
  acc_free(second);
  puts("ok");
  return 0;
}
