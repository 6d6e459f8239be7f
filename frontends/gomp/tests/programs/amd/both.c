// A program with images for NVIDIA's GPUs and for AMD's: one device of each, at once, with reductions over both.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, NVIDIAS = 1, AMDS = 2 };

#pragma omp declare target
int nvidias(void) { return NVIDIAS; }
int amds(void) { return AMDS; }
#pragma omp declare variant(nvidias) match(construct = {target}, device = {arch(nvptx)})
#pragma omp declare variant(amds) match(construct = {target}, device = {arch(gcn)})
int maker(void) { return 0; }
int scale = 1;
#pragma omp end declare target
long linked[4];
#pragma omp declare target link(linked)

#define CHECK(what) \
  if (!(what)) { printf("line %d: not so: %s\n", __LINE__, #what); exit(1); }

int main(void) {
  static long values[N], results[N];
  int devices = omp_get_num_devices();
  CHECK(devices == 2);
  int makers[2] = {0, 0};
  for (int device = 0; device < devices; ++device) {
    int found = 0;
#pragma omp target map(from : found) device(device)
    found = maker();
    makers[device] = found;
  }
  CHECK((makers[0] | makers[1]) == (NVIDIAS | AMDS));

  for (int at = 0; at < N; ++at) values[at] = at;
  // Each device has variables and data of its own.
  for (int device = 0; device < devices; ++device) {
#pragma omp target device(device)
    scale = 10 + maker();
  }
  long sums[2] = {0, 0};
#pragma omp parallel for num_threads(2)
  for (int device = 0; device < 2; ++device) {
    long sum = 0;
    int begin = device * (N / 2), end = begin + N / 2;
#pragma omp target teams distribute parallel for device(device) reduction(+ : sum) \
    map(to : values[begin : N / 2]) map(from : results[begin : N / 2])
    for (int at = begin; at < end; ++at) {
      results[at] = scale * values[at];
      sum += values[at];
    }
    sums[device] = sum;
  }
  CHECK(sums[0] + sums[1] == (long)N * (N - 1) / 2);
  for (int at = 0; at < N; ++at) CHECK(results[at] == (10 + makers[at / (N / 2)]) * values[at]);

  for (int device = 0; device < devices; ++device) {
#pragma omp target map(tofrom : linked) device(device)
    linked[device] = 5 + maker();
    CHECK(linked[device] == 5 + makers[device]);
  }

  // Without a thread for each, and from one device to the other.
  long first = 0, second = 0;
#pragma omp target teams distribute parallel for device(0) nowait map(tofrom : first) reduction(+ : first)
  for (int at = 0; at < N; ++at) first += at;
#pragma omp target teams distribute parallel for device(1) nowait map(tofrom : second) reduction(+ : second)
  for (int at = 0; at < N; ++at) second += at;
#pragma omp taskwait
  CHECK(first == second && first == (long)N * (N - 1) / 2);
  long *from = omp_target_alloc(sizeof values, 0), *to = omp_target_alloc(sizeof values, 1);
  CHECK(from && to);
  CHECK(!omp_target_memcpy(from, results, sizeof results, 0, 0, 0, omp_get_initial_device()));
  int stock = getenv("STOCK") != NULL;
  long *source = stock ? results : from;
  CHECK(!omp_target_memcpy(to, source, sizeof results, 0, 0, 1, stock ? omp_get_initial_device() : 0));
#pragma omp target is_device_ptr(to) device(1)
  to[0] = to[N - 1] + 1;
  long last = 0;
  CHECK(!omp_target_memcpy(&last, to, sizeof last, 0, 0, omp_get_initial_device(), 1));
  CHECK(last == results[N - 1] + 1);
  omp_target_free(from, 0);
  omp_target_free(to, 1);

  // A pointer of the one is none of the other's.
  if (getenv("WRONG")) {
    long *wrong = omp_target_alloc(sizeof *wrong, atoi(getenv("WRONG")));
#pragma omp target is_device_ptr(wrong) device(1 - atoi(getenv("WRONG")))
    *wrong = 1;
  }
  printf("passed\n");
  return 0;
}
