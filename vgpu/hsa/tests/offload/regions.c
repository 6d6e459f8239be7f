// Regions of GCC's, on the stock libgomp and its plugin: maps, teams, threads, reductions, variables, output.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

#pragma omp declare target
static int counter = 3;
static int twice(int value) { return 2 * value; }
#pragma omp end declare target

#define CHECK(what) \
  if (!(what)) { printf("line %d: not so: %s\n", __LINE__, #what); exit(1); }

int main(void) {
  static double a[N], b[N];
  double sum = 0;
  int host = 1, teams = 0, threads = 0;
  CHECK(omp_get_num_devices() == 2);
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  CHECK(!host);
  for (int at = 0; at < N; ++at) a[at] = at, b[at] = 2 * at;
#pragma omp target teams distribute parallel for map(tofrom : a) map(to : b) reduction(+ : sum)
  for (int at = 0; at < N; ++at) {
    a[at] = 3 * a[at] + b[at];
    sum += a[at];
  }
  CHECK(sum == 5.0 * N * (N - 1) / 2 && a[10] == 50);
  // Data that stays, and an update.
#pragma omp target enter data map(to : a)
#pragma omp target teams distribute parallel for
  for (int at = 0; at < N; ++at) a[at] = sqrt(a[at]);
#pragma omp target update from(a)
#pragma omp target exit data map(delete : a)
  CHECK(fabs(a[20] - 10) < 1e-12);
  // Variables of the device, and functions.
#pragma omp target
  counter = twice(counter + 1);
#pragma omp target update from(counter)
  CHECK(counter == 8);
  // Threads of a team meet.
  int order[64] = {0}, most = 0;
#pragma omp target teams num_teams(2) thread_limit(8) map(from : teams, threads)
#pragma omp parallel
  {
#pragma omp barrier
    if (omp_get_team_num() == 1 && omp_get_thread_num() == 0) teams = omp_get_num_teams(), threads = omp_get_num_threads();
  }
  CHECK(teams == 2 && threads >= 1);
#pragma omp target parallel map(tofrom : order, most)
  {
#pragma omp critical
    order[most++ & 63] = omp_get_thread_num() + 1;
  }
  CHECK(most >= 1 && order[0] >= 1);
  // Asynchronous regions, in order.
  int chain = 1;
#pragma omp target enter data map(to : chain)
  for (int round = 0; round < 5; ++round) {
#pragma omp target nowait depend(inout : chain) map(tofrom : chain)
    chain = 2 * chain + 1;
  }
#pragma omp taskwait
#pragma omp target exit data map(from : chain)
  CHECK(chain == 63);
  // The second device, and memory of the program's own.
  int *memory = omp_target_alloc(sizeof a, 1), value = 0;
  CHECK(memory);
#pragma omp target device(1) is_device_ptr(memory) map(from : value)
  {
    for (int at = 0; at < 100; ++at) memory[at] = at;
    value = memory[42];
  }
  CHECK(value == 42);
  omp_target_free(memory, 1);
#pragma omp target
  {
    int *own = malloc(400);
    for (int at = 0; at < 100; ++at) own[at] = at;
    printf("the device says %d\n", own[99]);
    free(own);
  }
  return 0;
}
